// Counts the connections of clients, HTTP and WebSocket. Beyond the limit, a new connection is closed immediately. Each REST API has its
// own limit; all REST APIs in the process together are limited by the number of descriptors.
import { descriptorLimit, openDescriptors, peersOf } from '../../../net/linux-sockets.ts';
import type { TemplatedApp } from '../../../net/uws.ts';
import { peerOf, type TrustedProxies } from '../proxies/trusted-proxies.ts';
import type { LimitHits } from './limit-hits.ts';
import { NetworkCounts } from './network.ts';

let openOfAll = 0;

interface ConnectionCount {
  /**
   * Called by an app when a connection has opened (1) or closed (-1), but not when a WebSocket has closed. Closes a connection beyond the
   * limit.
   */
  readonly filter: Parameters<TemplatedApp['filter']>[0];
  /** Counts a connection that has become a WebSocket (1), or a WebSocket that has closed (-1). */
  readonly countSocket: (step: 1 | -1) => void;
}

/** Creates the connection count for one REST API. */
export function createConnectionCount(
  { connections, connectionsPerAddress }: { readonly connections: number; readonly connectionsPerAddress: number },
  hits: LimitHits,
  portOf: () => number,
  proxies: Pick<TrustedProxies, 'has'>,
): ConnectionCount {
  const mostOfAll = maxConnections();
  const most = Math.min(connections, mostOfAll);
  const mostOfOne = Math.min(connectionsPerAddress, Math.ceil(most / 2));
  const census = new AddressCensus(mostOfOne, portOf);
  let open = 0;
  const count = (step: number) => {
    open += step;
    openOfAll += step;
  };
  return {
    filter(response, step) {
      count(Number(step));
      if (Number(step) < 0) return;
      const client = peerOf(response); // no request that names a client behind a proxy has arrived yet
      const isTooMany = open > most || openOfAll > mostOfAll;
      const mayConnect = () => proxies.has(client) || census.mayConnect(client, open);
      const exceeded = isTooMany ? 'connections' : mayConnect() ? undefined : 'connectionsPerAddress';
      if (exceeded === undefined) return;
      hits.add(exceeded, client);
      response.close(); // the app then reports that the connection has closed
    },
    countSocket(step) {
      if (step < 0) count(-1);
    },
  };
}

// Decides whether an address has too many connections. uWebSockets.js does not report the address of a closed connection, so all opened
// connections count until the operating system lists the connections that are still open. Listing takes about 30 ms, so the hub requests a
// list only when it matters, at most once per second.

const everyMs = 1000;
/** The number of new connections after which the hub requests the list in any case, to discount closed connections. */
const manyConnected = 1000;

class AddressCensus {
  readonly #most: number;
  readonly #portOf: () => number;
  /** An upper bound on the number of connections of each address. */
  #atMost = new NetworkCounts();
  /** The connections opened since the list was last requested, counted by network. */
  #since = new NetworkCounts();
  #connected = 0;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  /** Whether the operating system cannot list connections, in which case no client is refused. */
  #isBlind = false;

  constructor(most: number, portOf: () => number) {
    this.#most = most;
    this.#portOf = portOf;
  }

  /**
   * Counts a new connection, unless its address has too many connections; returns whether the connection may stay. `open` is the number of
   * open connections, including the new one.
   */
  mayConnect(address: string, open: number): boolean {
    if (this.#isBlind) return true;
    const isFull = open > this.#most;
    const count = this.#atMost.of(address) + 1;
    if ((isFull && count * 2 > this.#most) || this.#connected >= Math.max(manyConnected, this.#most)) this.#ask();
    if (isFull && count > this.#most) return false;
    this.#atMost.add(address);
    this.#since.add(address);
    this.#connected++;
    return true;
  }

  #ask(): void {
    const now = performance.now();
    if (now - this.#askedAtMs < everyMs) return;
    this.#askedAtMs = now;
    this.#since = new NetworkCounts();
    this.#connected = 0;
    peersOf(this.#portOf()).then(
      (peers) => this.#listen(peers),
      () => {
        this.#isBlind = true;
      },
    );
  }

  /**
   * Lowers the counts to a list of open connections. The list may or may not contain the connections that were opened since it was
   * requested, so these connections count in addition.
   */
  #listen(peers: ReadonlyMap<string, number>): void {
    const answer = new NetworkCounts();
    for (const [address, count] of peers) answer.add(address, count);
    this.#atMost = this.#atMost.leastOf(answer.plus(this.#since));
  }
}

// Each connection needs a descriptor, as does each long file that is being sent. Three quarters of the descriptors that are free at the
// start are for connections and an eighth is for files; the other descriptors stay free for everything else.

/** The share of the free descriptors that connections may use; the rest is for files and everything else. */
const share = 0.75;
/** The share of the other free descriptors that files may use while they are being sent. */
const fileShare = 0.5;

let free: number | undefined;
let openFiles = 0;

/**
 * Returns how many descriptors were free when they were first counted, for the first REST API; infinite if the operating system does not
 * limit the number.
 */
function freeDescriptors(): number {
  free ??= Math.max(8, descriptorLimit() - openDescriptors());
  return free;
}

/** Returns the maximum number of connections of all REST APIs together. */
function maxConnections(): number {
  return Math.floor(freeDescriptors() * share);
}

/**
 * Reserves a descriptor for a file that is about to be sent, possibly slowly; returns false if files have already used up their share of
 * the descriptors.
 */
export function takeFile(): boolean {
  if (openFiles >= freeDescriptors() * (1 - share) * fileShare) return false;
  openFiles++;
  return true;
}

export function releaseFile(): void {
  openFiles--;
}
