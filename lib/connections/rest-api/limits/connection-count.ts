// Counts the connections of clients, HTTP and WebSocket. When there are too many, a new one is closed at once. A REST API may have so many;
// all those of the process together, as many as there are descriptors for.
import { descriptorLimit, openDescriptors, peersOf } from '../../../net/linux-sockets.ts';
import type { TemplatedApp } from '../../../net/uws.ts';
import { peerOf, type TrustedProxies } from '../proxies/trusted-proxies.ts';
import type { LimitHits } from './limit-hits.ts';
import { NetworkCounts } from './network.ts';

let openOfAll = 0;

interface ConnectionCount {
  /** What an app calls when a connection has come (1) or gone (-1); it does not call it for the end of a WebSocket. */
  readonly filter: Parameters<TemplatedApp['filter']>[0];
  /** Counts a connection that has become a WebSocket (1), or a WebSocket that has gone (-1). */
  readonly countSocket: (step: 1 | -1) => void;
}

/** Creates the count of a REST API. */
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
      const client = peerOf(response); // nothing has come yet that says more
      const isTooMany = open > most || openOfAll > mostOfAll;
      const mayCome = () => proxies.has(client) || census.mayCome(client, open);
      const exceeded = isTooMany ? 'connections' : mayCome() ? undefined : 'connectionsPerAddress';
      if (exceeded === undefined) return;
      hits.add(exceeded, client);
      response.close(); // the app then tells that it has gone
    },
    countSocket(step) {
      if (step < 0) count(-1);
    },
  };
}

// Whether an address has too many connections. uWebSockets.js does not say whose connection has gone, so all that have come count, until
// the system is asked who is there. That takes it some 30 ms, so it is asked only when it matters, once a second at most.

const everyMs = 1000;
/** After so many connections it is asked in any case, so that those who have gone are forgotten. */
const manyCame = 1000;

class AddressCensus {
  readonly #most: number;
  readonly #portOf: () => number;
  /** No address has more. */
  #atMost = new NetworkCounts();
  /** What has come since the system was asked last. */
  #since = new NetworkCounts();
  #came = 0;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  /** true: the system does not tell, and so nobody is refused. */
  #isBlind = false;

  constructor(most: number, portOf: () => number) {
    this.#most = most;
    this.#portOf = portOf;
  }

  /** Counts a connection that has come, one of `open`, unless its address may not have one more; returns whether it may. */
  mayCome(address: string, open: number): boolean {
    if (this.#isBlind) return true;
    const isFull = open > this.#most;
    const count = this.#atMost.of(address) + 1;
    if ((isFull && count * 2 > this.#most) || this.#came >= Math.max(manyCame, this.#most)) this.#ask();
    if (isFull && count > this.#most) return false;
    this.#atMost.add(address);
    this.#since.add(address);
    this.#came++;
    return true;
  }

  #ask(): void {
    const now = performance.now();
    if (now - this.#askedAtMs < everyMs) return;
    this.#askedAtMs = now;
    this.#since = new NetworkCounts();
    this.#came = 0;
    peersOf(this.#portOf()).then(
      (peers) => this.#listen(peers),
      () => {
        this.#isBlind = true;
      },
    );
  }

  /** Of what came while the system was asked nobody knows whether it told of it, so both bounds hold. */
  #listen(peers: ReadonlyMap<string, number>): void {
    const answer = new NetworkCounts();
    for (const [address, count] of peers) answer.add(address, count);
    this.#atMost = this.#atMost.leastOf(answer.plus(this.#since));
  }
}

// Each connection costs a descriptor, and so does each long file that is being sent. The process has only so many. Of those that are
// free at the start, three quarters are for connections and an eighth is for files; the rest stays free for everything else.

/** How much of what is free at the start is for connections. */
const share = 0.75;
/** How much of the rest is for files that are being sent. */
const fileShare = 0.5;

let free: number | undefined;
let openFiles = 0;

/** How many descriptors were free when the first REST API started; infinite where the system does not limit them. */
function freeDescriptors(): number {
  free ??= Math.max(8, descriptorLimit() - openDescriptors());
  return free;
}

/** How many connections there may be at once, of all REST APIs together. */
function maxConnections(): number {
  return Math.floor(freeDescriptors() * share);
}

/** Takes a descriptor for a file that is sent as slowly as its reader reads; false: too many of them are taken. */
export function takeFile(): boolean {
  if (openFiles >= freeDescriptors() * (1 - share) * fileShare) return false;
  openFiles++;
  return true;
}

export function giveFileBack(): void {
  openFiles--;
}
