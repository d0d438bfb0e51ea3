// Knows who is connected, and whether there is room for another client. A client takes its place when its handshake begins.

import { HubError } from '../../../model/error.ts';
import { LimitError } from '../limits/limit-hits.ts';
import { NetworkCounts, networkOf } from '../limits/network.ts';
import { shareOf, TokenBuckets } from '../limits/rates.ts';
import { shownAddress } from '../proxies/ip-address.ts';
import type { Settings } from '../settings.ts';
import type { Principal } from '../users/principal.ts';
import type { ConnectedClient } from './socket-protocol.ts';

/** So many clients of a share may be closed because they flood or do not read, and so many more each second: then those that come wait. */
const freeReturns = 8;
const returnsPerSecond = 2;
/** For how long, and how far apart. When more than there is time for come, they come at any time. */
const returnDelayMs = [250, 1000] as const;
const returnEveryMs = 50;

export class ClientRegister {
  readonly #settings: Pick<Settings, 'maxClients' | 'limits'>;
  readonly #connected = new Set<ConnectedClient>();
  /** How many handshakes are under way. `maxClients` bounds them together with the clients. */
  #opening = 0;
  /** How many that are no user each network has. */
  readonly #networks = new NetworkCounts();
  /** How many each user has. */
  readonly #users = new Map<string, number>();
  readonly #returns = new TokenBuckets(freeReturns, returnsPerSecond);
  /** When the last of those who wait may come. */
  #lastReturnMs = 0;
  #lastId = 0;
  #isClosed = false;

  constructor(settings: Pick<Settings, 'maxClients' | 'limits'>) {
    this.#settings = settings;
  }

  get size(): number {
    return this.#connected.size;
  }

  /** Whether nobody is connected, and no handshake is under way. */
  get isEmpty(): boolean {
    return this.size + this.#opening === 0;
  }

  /** From now on nobody comes in, not even whose handshake has begun. */
  close(): void {
    this.#isClosed = true;
  }

  /** Errors: `unavailable`. */
  checkOpen(): void {
    if (this.#isClosed) throw new HubError('unavailable', '/ws: the hub is shutting down');
  }

  clients(): Iterable<ConnectedClient> {
    return this.#connected;
  }

  /** Whether its socket is open. */
  has(client: ConnectedClient): boolean {
    return this.#connected.has(client);
  }

  /** Gives a place to a client whose handshake begins. Errors: `too-many-clients`, `unavailable`. */
  takePlace(remoteAddress: string, { name }: Principal): void {
    this.checkOpen();
    const { maxClients, limits } = this.#settings;
    if (this.size + this.#opening >= maxClients)
      throw new LimitError(
        'clients',
        'too-many-clients',
        `expected at most ${maxClients} WebSocket clients, all are there`,
      );
    if (name === '' && this.#networks.of(remoteAddress) >= limits.clientsPerAddress) {
      const clients = `${limits.clientsPerAddress} WebSocket clients of ${shownAddress(networkOf(remoteAddress))}`;
      throw new LimitError('clientsPerAddress', 'too-many-clients', `expected at most ${clients}, all are there`);
    }
    if (name !== '' && (this.#users.get(name) ?? 0) >= limits.clientsPerUser) {
      const clients = `${limits.clientsPerUser} WebSocket clients of user ${name}`;
      throw new LimitError('clientsPerUser', 'too-many-clients', `expected at most ${clients}, all are there`);
    }
    this.#opening++;
    this.#count(remoteAddress, name, 1);
  }

  /** Takes the place back when the handshake is over. */
  givePlaceBack(remoteAddress: string, { name }: Principal): void {
    this.#opening--;
    this.#count(remoteAddress, name, -1);
  }

  /** A client was closed because it floods or does not read. */
  noteGivenUp({ principal, remoteAddress }: ConnectedClient): void {
    const share = shareOf(principal, remoteAddress);
    if (this.#returns.left(share) > -freeReturns) this.#returns.take(share);
  }

  /** How long one of a share who comes has to wait: else whoever floods, and comes again when it is closed, would flood without end. */
  waitMs(share: string): number {
    if (this.#returns.has(share)) return 0;
    const [least, most] = returnDelayMs;
    const now = performance.now();
    const atMs = Math.max(now + least, this.#lastReturnMs + returnEveryMs);
    if (atMs > now + most) return least + Math.random() * (most - least);
    this.#lastReturnMs = atMs;
    return atMs - now;
  }

  /** The `id` of a client whose socket is about to open. */
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

  /** A user counts by its name: others of its address, which may be that of a proxy, never keep it out. */
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
