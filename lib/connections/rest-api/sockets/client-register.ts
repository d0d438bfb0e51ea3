// Tracks the connected clients and whether another client may connect. A client counts from the beginning of its handshake.

import { HubError } from '../../../model/error.ts';
import { LimitError } from '../limits/limit-hits.ts';
import { NetworkCounts, networkOf } from '../limits/network.ts';
import { shareOf, TokenBuckets } from '../limits/rates.ts';
import { shownAddress } from '../proxies/ip-address.ts';
import type { Settings } from '../settings.ts';
import type { Principal } from '../users/principal.ts';
import type { ConnectedClient } from './socket-protocol.ts';

/**
 * The number of clients of a share that the hub may disconnect, for flooding or not reading, before new clients of the share have to
 * wait. Of the disconnected clients, `returnsPerSecond` are forgotten each second.
 */
const freeReturns = 8;
const returnsPerSecond = 2;
/**
 * The minimum and maximum wait of a new client of such a share, and the minimum interval between two of these clients, in milliseconds. If
 * more clients arrive than this interval allows, each client waits for a random time.
 */
const returnDelayMs = [250, 1000] as const;
const returnEveryMs = 50;

export class ClientRegister {
  readonly #settings: Pick<Settings, 'maxClients' | 'limits'>;
  readonly #connected = new Set<ConnectedClient>();
  /** The number of handshakes in progress. `maxClients` limits the total number of handshakes and clients. */
  #opening = 0;
  /** The number of clients without a user, by network. */
  readonly #networks = new NetworkCounts();
  /** The number of clients, keyed by user. */
  readonly #users = new Map<string, number>();
  readonly #returns = new TokenBuckets(freeReturns, returnsPerSecond);
  /** The time at which the last of the waiting clients may connect, in milliseconds on the monotonic clock. */
  #lastReturnMs = 0;
  #lastId = 0;
  #isClosed = false;

  constructor(settings: Pick<Settings, 'maxClients' | 'limits'>) {
    this.#settings = settings;
  }

  get size(): number {
    return this.#connected.size;
  }

  /** Whether there are neither clients nor handshakes in progress. */
  get isEmpty(): boolean {
    return this.size + this.#opening === 0;
  }

  /** Refuses all clients from now on, including clients whose handshake has begun. */
  close(): void {
    this.#isClosed = true;
  }

  /** Checks that the hub still accepts clients. Errors: `unavailable`. */
  checkOpen(): void {
    if (this.#isClosed) throw new HubError('unavailable', '/ws: the hub is shutting down');
  }

  clients(): Iterable<ConnectedClient> {
    return this.#connected;
  }

  /** Returns whether a client is connected. */
  has(client: ConnectedClient): boolean {
    return this.#connected.has(client);
  }

  /** Reserves a place for a client whose handshake begins. Errors: `too-many-clients`, `unavailable`. */
  takePlace(remoteAddress: string, { name }: Principal): void {
    this.checkOpen();
    const { maxClients, limits } = this.#settings;
    if (this.size + this.#opening >= maxClients)
      throw new LimitError(
        'clients',
        'too-many-clients',
        `expected at most ${maxClients} WebSocket clients: all slots are taken`,
      );
    if (name === '' && this.#networks.of(remoteAddress) >= limits.clientsPerAddress) {
      const clients = `${limits.clientsPerAddress} WebSocket clients from ${shownAddress(networkOf(remoteAddress))}`;
      throw new LimitError('clientsPerAddress', 'too-many-clients', `expected at most ${clients}: all slots are taken`);
    }
    if (name !== '' && (this.#users.get(name) ?? 0) >= limits.clientsPerUser) {
      const clients = `${limits.clientsPerUser} WebSocket clients of user ${name}`;
      throw new LimitError('clientsPerUser', 'too-many-clients', `expected at most ${clients}: all slots are taken`);
    }
    this.#opening++;
    this.#count(remoteAddress, name, 1);
  }

  /** Releases the place of a client when the handshake ends. */
  givePlaceBack(remoteAddress: string, { name }: Principal): void {
    this.#opening--;
    this.#count(remoteAddress, name, -1);
  }

  /** Notes that the hub closed a client because it flooded the hub or did not read. */
  noteGivenUp({ principal, remoteAddress }: ConnectedClient): void {
    const share = shareOf(principal, remoteAddress);
    if (this.#returns.left(share) > -freeReturns) this.#returns.take(share);
  }

  /**
   * Returns how long a new client of a share has to wait, in milliseconds. Without this wait, a client that floods the hub could reconnect
   * and flood forever.
   */
  waitMs(share: string): number {
    if (this.#returns.has(share)) return 0;
    const [least, most] = returnDelayMs;
    const now = performance.now();
    const atMs = Math.max(now + least, this.#lastReturnMs + returnEveryMs);
    if (atMs > now + most) return least + Math.random() * (most - least);
    this.#lastReturnMs = atMs;
    return atMs - now;
  }

  /** Returns the next `ConnectedClient.id`. */
  newId(): number {
    return ++this.#lastId;
  }

  add(client: ConnectedClient): void {
    this.#count(client.remoteAddress, client.principal.name, 1);
    this.#connected.add(client);
  }

  remove(client: ConnectedClient): void {
    this.#count(client.remoteAddress, client.principal.name, -1);
    this.#connected.delete(client);
  }

  /**
   * Counts a client by its user or, without a user, by its network. So other clients at the same address, which may be the address of a
   * proxy, never keep the user out.
   */
  #count(remoteAddress: string, name: string, step: 1 | -1): void {
    if (name === '') {
      if (step > 0) this.#networks.add(remoteAddress);
      else this.#networks.remove(remoteAddress);
      return;
    }
    const count = (this.#users.get(name) ?? 0) + step;
    if (count > 0) this.#users.set(name, count);
    else this.#users.delete(name);
  }
}
