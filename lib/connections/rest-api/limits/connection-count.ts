// Counts the connections of clients, HTTP and WebSocket, of all REST APIs of the process together. A client beyond what there may be
// is let go of as soon as it comes.

import type { TemplatedApp } from '../../../net/uws.ts';
import { AddressCensus } from './address-census.ts';
import { maxConnections } from './descriptor-shares.ts';
import type { LimitHits } from './limit-hits.ts';
import { remoteAddress } from './remote-address.ts';

let open = 0;

/** What an app tells of a connection that has come (1) or gone (-1), unless it has become a WebSocket; closes what is too much. */
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
    response.close(); // which is told as one that has gone
  };
}

/** A WebSocket has gone. */
export function countSocketGone(): void {
  open--;
}
