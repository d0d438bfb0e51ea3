// Counts the connections of clients, HTTP and WebSocket. When there are too many, a new one is closed at once. A REST API may have so many;
// all those of the process together, as many as there are descriptors for.

import type { TemplatedApp } from '../../../net/uws.ts';
import { peerOf } from '../proxies/remote-address.ts';
import type { TrustedProxies } from '../proxies/trusted-proxies.ts';
import { AddressCensus } from './address-census.ts';
import { maxConnections } from './descriptor-shares.ts';
import type { LimitHits } from './limit-hits.ts';

let openOfAll = 0;

export interface ConnectionCount {
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
