// What all WebSocket clients of one user cost together: their subscriptions, and what the hub holds for those that do not read. Of clients
// that are nobody in particular, those of one network count together.

import { closeCodes } from '../../../wire/close-codes.ts';
import { LimitError } from '../limits/limit-error.ts';
import type { LimitHits } from '../limits/limit-hits.ts';
import { shareOf } from '../limits/share.ts';
import { shownAddress } from '../proxies/address.ts';
import type { Settings } from '../settings.ts';
import type { ConnectedClient } from './session.ts';

/** What the subscriptions of a client cost. */
export interface Cost {
  readonly subscriptions: number;
  readonly steps: number;
  /** How long their patterns are, in characters. */
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

/** Counts the subscriptions of each share. It is as large as there are clients. */
export class SubscriptionShares {
  readonly #limits: Limits;
  readonly #shares = new Map<string, Cost>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Has a client of a share cost something else. Errors: `bad-request`; then nothing has changed. */
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
    `sub: expected at most ${what} in all clients of ${shownAddress(share)}, got more`,
  );
}

interface Clients {
  clients(): Iterable<ConnectedClient>;
  has(client: ConnectedClient): boolean;
}

/** How often some of the clients are looked at, and how many. */
const lookMs = 100;
const lookedAtOnce = 1000;

/**
 * Looks at what clients do not read. Where one share holds too much, it ends those that hold the most. As long as there are so few clients
 * that they cannot hold that much, it does not look.
 */
export class UnreadWatch {
  readonly #clients: Clients;
  /** How much is held for a client, and for all of a share. */
  readonly #mostOfOne: number;
  readonly #most: number;
  readonly #hits: LimitHits;
  #timer: NodeJS.Timeout | undefined;
  #walk: Iterator<ConnectedClient> | undefined;
  /** How many clients this walk has come by. */
  #count = 0;
  #held = new Map<string, [client: ConnectedClient, bytes: number][]>();

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

  /** To be told how many clients there are when another one has come. */
  came(count: number): void {
    if (this.#timer === undefined && count * this.#mostOfOne > this.#most)
      this.#timer = setInterval(() => this.#look(), lookMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
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
      const share = shareOf(value.visitor, value.remoteAddress);
      const held = this.#held.get(share);
      if (held === undefined) this.#held.set(share, [[value, bytes]]);
      else held.push([value, bytes]);
    }
  }

  #judge(): void {
    const shares = this.#held;
    if (this.#count * this.#mostOfOne <= this.#most) this.stop();
    this.#count = 0;
    this.#held = new Map();
    for (const all of shares.values()) {
      const held = all.filter(([client]) => this.#clients.has(client)); // a walk takes some time, and the others have gone meanwhile
      let sum = held.reduce((bytes, one) => bytes + one[1], 0);
      if (sum <= this.#most) continue;
      for (const [{ session, remoteAddress }, bytes] of held.sort(([, one], [, other]) => other - one)) {
        if (sum <= this.#most) break;
        sum -= bytes;
        this.#hits.add('unreadBytesPerUser', remoteAddress);
        session.end(closeCodes.stalled, 'the clients of your user do not read');
      }
    }
  }
}
