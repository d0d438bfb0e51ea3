// The cost of all WebSocket clients of one user: their subscriptions, and the memory that the hub holds for clients that do not read.
// Clients without a user count by network.

import { type Account, held } from '../../../model/held-bytes.ts';
import { type CloseCode, closeCodes } from '../../../wire/protocol.ts';
import { LimitError, type LimitHits } from '../limits/limit-hits.ts';
import { shareOf, TokenBuckets } from '../limits/rates.ts';
import { shownAddress } from '../proxies/ip-address.ts';
import type { Settings } from '../settings.ts';
import type { ConnectedClient, Socket } from './socket-protocol.ts';

/** The cost of all subscriptions of a client. */
export interface Cost {
  readonly subscriptions: number;
  readonly steps: number;
  /** The total length of all patterns, in characters. */
  readonly text: number;
}

interface Priced {
  readonly patterns: string;
  readonly selection: { readonly work: number };
}

export function costOf(subscriptions: readonly Priced[]): Cost {
  return {
    subscriptions: subscriptions.length,
    steps: subscriptions.reduce((sum, { selection }) => sum + selection.work, 0),
    text: subscriptions.reduce((sum, { patterns }) => sum + patterns.length, 0),
  };
}

type Limits = Pick<Settings['limits'], 'subscriptionsPerUser' | 'stepsPerUser' | 'patternTextPerUser'>;

const nothing: Cost = { subscriptions: 0, steps: 0, text: 0 };

/** Counts the cost of the subscriptions in each share. The number of entries is bounded by the number of clients. */
export class SubscriptionShares {
  readonly #limits: Limits;
  readonly #shares = new Map<string, Cost>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Replaces the cost of one client in its share. Errors: `bad-request`, in which case nothing changes. */
  change(share: string, before: Cost, after: Cost): void {
    const { subscriptions, steps, text } = this.#shares.get(share) ?? nothing;
    const next = {
      subscriptions: subscriptions + after.subscriptions - before.subscriptions,
      steps: steps + after.steps - before.steps,
      text: text + after.text - before.text,
    };
    const { subscriptionsPerUser, stepsPerUser, patternTextPerUser } = this.#limits;
    if (next.subscriptions > subscriptionsPerUser && after.subscriptions > before.subscriptions)
      throw tooMuch('subscriptionsPerUser', `${subscriptionsPerUser} subscriptions`, share);
    if (next.steps > stepsPerUser && after.steps > before.steps)
      throw tooMuch('stepsPerUser', `patterns of ${stepsPerUser} steps`, share);
    if (next.text > patternTextPerUser && after.text > before.text)
      throw tooMuch('patternTextPerUser', `patterns of ${patternTextPerUser} characters`, share);
    if (next.subscriptions > 0) this.#shares.set(share, next);
    else this.#shares.delete(share);
  }
}

function tooMuch(limit: keyof Limits, what: string, share: string): LimitError {
  return new LimitError(
    limit,
    'bad-request',
    `sub: expected at most ${what} across all clients of ${shownAddress(share)}, got more`,
  );
}

/**
 * The number of bytes that the hub may hold for closed clients that have not read everything up to their close frame. This budget is
 * restored within two minutes, the time for which uWebSockets.js may keep such a socket.
 */
const lingeringBytes = 16 * 1024 * 1024;
const lingering = new TokenBuckets(lingeringBytes, lingeringBytes / 120);
/** The key of the budget that all clients share. */
const everybody = '';

/**
 * Closes a socket with a code. If the client has unread data and the hub already holds too much for closed clients, cuts the socket
 * instead, which frees the client's memory.
 */
export function closeSocket(socket: Socket, code: CloseCode, reason: string): void {
  const bytes = socket.getBufferedAmount();
  if (bytes > 0 && lingering.left(everybody) < bytes) {
    socket.getUserData().isCut = true;
    socket.close();
    return;
  }
  if (bytes > 0) lingering.take(everybody, bytes);
  socket.end(code, reason);
}

interface Clients {
  clients(): Iterable<ConnectedClient>;
  has(client: ConnectedClient): boolean;
}

/** The interval between two checks, in milliseconds, and the number of clients that one check examines. */
const lookMs = 50;
const lookedAtOnce = 1000;

/** The number of characters in published strings after which the watch checks all clients. */
const lookEveryCharacters = 64 * 1024 * 1024;

/** A client with unread data, and the number of bytes that the hub holds for this client. */
type Unread = readonly [client: ConnectedClient, bytes: number];

/** The clients with unread data in a share, as found in the last walk, and the account for their bytes. */
interface ShareHeld {
  /** The clients with unread data, in ascending order of the bytes that the hub holds for them. */
  readonly clients: Unread[];
  readonly account: Account;
}

/**
 * Watches how many unread bytes the hub holds for clients. If the clients of one share, or of all shares together, leave too much unread,
 * the watch closes the clients for which the hub holds the most. The watch does not run while there are too few clients to leave that much
 * unread.
 */
export class UnreadWatch {
  readonly #clients: Clients;
  /** The maximum number of bytes held for one client, and for all clients in a share. */
  readonly #mostOfOne: number;
  readonly #most: number;
  readonly #hits: LimitHits;
  #timer: NodeJS.Timeout | undefined;
  #walk: Iterator<ConnectedClient> | undefined;
  /** The number of clients that the current walk has visited so far. */
  #count = 0;
  #found = new Map<string, Unread[]>();
  readonly #held = new Map<string, ShareHeld>();
  #untilLook = lookEveryCharacters;

  constructor(
    clients: Clients,
    { unreadBytes, unreadBytesPerUser }: Pick<Settings['limits'], 'unreadBytes' | 'unreadBytesPerUser'>,
    hits: LimitHits,
  ) {
    this.#clients = clients;
    this.#mostOfOne = unreadBytes;
    this.#most = unreadBytesPerUser;
    this.#hits = hits;
  }

  /**
   * Starts the watch if there are now enough clients to hold too much. Call this with the number of clients when a client has connected.
   */
  added(count: number): void {
    if (this.#timer === undefined && this.#mayBeTooMuch(count))
      this.#timer = setInterval(() => this.#look(), lookMs).unref();
  }

  /**
   * Notes that strings were published, with the number of characters counted once for each client. After many characters, checks all
   * clients at once, because some of them may have become full since the last check.
   */
  published(characters: number): void {
    this.#untilLook -= characters;
    if (this.#untilLook > 0) return;
    this.#untilLook = lookEveryCharacters;
    if (this.#timer !== undefined) setImmediate(() => this.#lookAtAll()); // not within this call: a closed client may be in use
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    for (const { account } of this.#held.values()) account.set(0);
    this.#held.clear();
  }

  /**
   * Returns whether this many clients could hold too much: more than one share may hold, or a quarter of the hub's limit, which could be
   * too much together with everything else.
   */
  #mayBeTooMuch(count: number): boolean {
    return count * this.#mostOfOne > Math.min(this.#most, held.mostBytes / 4);
  }

  #lookAtAll(): void {
    if (this.#timer === undefined) return;
    do this.#look();
    while (this.#walk !== undefined);
  }

  #look(): void {
    this.#walk ??= this.#clients.clients()[Symbol.iterator]();
    for (let looked = 0; looked < lookedAtOnce; looked++) {
      const { done, value } = this.#walk.next();
      if (done) {
        this.#walk = undefined;
        this.#judge();
        return;
      }
      this.#count++;
      const bytes = value.session.unreadBytes;
      if (bytes === 0) continue;
      const share = shareOf(value.principal, value.remoteAddress);
      const found = this.#found.get(share);
      if (found === undefined) this.#found.set(share, [[value, bytes]]);
      else found.push([value, bytes]);
    }
  }

  #judge(): void {
    const shares = this.#found;
    const isNeeded = this.#mayBeTooMuch(this.#count);
    this.#count = 0;
    this.#found = new Map();
    for (const [share, { account }] of this.#held) {
      if (shares.has(share)) continue;
      account.set(0);
      this.#held.delete(share);
    }
    for (const [share, found] of shares) {
      const account = this.#held.get(share)?.account ?? this.#open(share);
      // clients may have disconnected during the walk
      const clients = found.filter(([client]) => this.#clients.has(client)).sort(([, one], [, other]) => one - other);
      this.#held.set(share, { clients, account });
      const bytes = clients.reduce((sum, one) => sum + one[1], 0);
      const surplus = bytes - this.#most;
      account.set(bytes - (surplus > 0 ? this.#end(clients, surplus, 'unreadBytesPerUser') : 0));
    }
    if (!isNeeded) this.stop();
  }

  #open(share: string): Account {
    const letGo = (bytes: number) => {
      const clients = this.#held.get(share)?.clients ?? [];
      account.set(clients.length === 0 ? 0 : Math.max(0, account.bytes - this.#end(clients, bytes, 'heldBytes')));
    };
    const account: Account = held.open({ kind: 'sockets', owner: share, letGo });
    return account;
  }

  /** Closes the clients for which the hub holds the most, until `bytes` bytes have been freed; returns how many bytes were freed. */
  #end(clients: Unread[], bytes: number, limit: 'unreadBytesPerUser' | 'heldBytes'): number {
    let free = 0;
    while (free < bytes) {
      const [client, unread] = clients.pop() ?? [];
      if (client === undefined) break;
      free += unread!;
      if (!this.#clients.has(client)) continue;
      this.#hits.add(limit, client.remoteAddress);
      client.session.end(closeCodes.stalled, 'your clients do not read what the hub sends');
    }
    return free;
  }
}
