// Counts the connections of clients, HTTP and WebSocket, of all REST APIs of the process together. When there are too many, a new one
// is closed at once.

import type { TemplatedApp } from '../../../net/uws.ts';
import { AddressCensus } from './address-census.ts';
import { maxConnections } from './descriptor-shares.ts';
import type { LimitHits } from './limit-hits.ts';
import { remoteAddress } from './remote-address.ts';

let open = 0;

/** Creates what an app calls when a connection has come (1) or gone (-1); it does not call it for the end of a WebSocket. */
export function createConnectionFilter(
  { connections, connectionsPerAddress }: { readonly connections: number; readonly connectionsPerAddress: number },
  hits: LimitHits,
  portOf: () => number,
): Parameters<TemplatedApp['filter']>[0] {
  const most = maxConnections(connections);
  const mostOfOne = Math.min(connectionsPerAddress, Math.ceil(most / 2));
  const census = new AddressCensus(mostOfOne, portOf);
  return (response, step) => {
    open += Number(step);
    if (Number(step) < 0 || open <= mostOfOne) return;
    const client = remoteAddress(response);
    const exceeded = open > most ? 'connections' : census.mayCome(client) ? undefined : 'connectionsPerAddress';
    if (exceeded === undefined) return;
    hits.add(exceeded, client);
    response.close(); // the app then tells that it has gone
  };
}

/** Counts a WebSocket that has gone. */
export function countSocketGone(): void {
  open--;
}
