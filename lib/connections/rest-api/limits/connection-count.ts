// How many connections clients have, HTTP and WebSocket, of all REST APIs of the process together. Each costs a descriptor, of
// which the process has only so many; a part of them is kept for files. Clients beyond are let go of as soon as they come.

import { descriptorLimit, openDescriptors } from '../../../net/descriptors.ts';
import type { TemplatedApp } from '../../../net/uws.ts';
import type { Settings } from '../settings.ts';
import { AddressCensus } from './address-census.ts';
import type { LimitHits } from './limit-hits.ts';
import { remoteAddress } from './remote-address.ts';

/** How much of what is free at the start is for connections. */
const share = 0.75;
/** How much of the rest is for files that are being sent. */
const fileShare = 0.5;

let open = 0;
let openFiles = 0;
let free: number | undefined;

/** How many descriptors were free when the first REST API started; infinite where the system does not limit them. */
export function freeDescriptors(): number {
  free ??= Math.max(8, descriptorLimit() - openDescriptors());
  return free;
}

/** How many connections there may be at once. */
export function maxConnections(setting: number): number {
  return Math.min(setting, Math.floor(freeDescriptors() * share));
}

/** Takes a descriptor for a file that is sent for as long as its reader takes; false: there are too many of them. */
export function takeFile(): boolean {
  if (openFiles >= freeDescriptors() * (1 - share) * fileShare) return false;
  openFiles++;
  return true;
}

export function giveFileBack(): void {
  openFiles--;
}

/** What an app tells of a connection that has come (1) or gone (-1), unless it has become a WebSocket; closes what is too much. */
export function createConnectionFilter(
  { connections, connectionsPerAddress }: Settings['limits'],
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
