// How a flush comes to the members of a group. All live ones are sent the same bytes; who has no room for them falls back, and
// nobody waits.

import type { Client } from '../client.ts';
import { type Batch, Packer } from '../outboxes/packer.ts';
import { fireFrames, isFire, send } from './delivery.ts';
import type { Members } from './members.ts';
import type { Membership } from './membership.ts';

/** Members that are not live and get, or miss, the same of a flush. */
export interface Variant {
  /** Of what waits they get what has a later revision; undefined: they only get fires, or have missed all. */
  readonly from: number | undefined;
  readonly packer: Packer;
  readonly clients: Client[];
}

/**
 * Finds the members that are not live for a flush, but for those whose losses are counted with others. `before` is the revision up
 * to which everything had left.
 */
export function variantsOf({ apart }: Members, shared: Packer, before: number, isExact: boolean): Variant[] {
  const variants = new Map<number | undefined, Variant>();
  for (const client of apart) {
    const { membership } = client;
    if ('segment' in membership && membership.segment !== undefined) continue;
    const from = startOf(membership, before, isExact);
    let variant = variants.get(from);
    if (variant === undefined) {
      variant = { from, packer: from === undefined ? shared : new Packer(), clients: [] };
      variants.set(from, variant);
    }
    variant.clients.push(client);
  }
  return [...variants.values()];
}

/** What must not come twice is encoded for a client by itself while something waits that is not for it. */
function startOf(membership: Membership, before: number, isExact: boolean): number | undefined {
  if (isExact && 'from' in membership && membership.from > before) return membership.from;
  return membership.name === 'fresh' || membership.name === 'extending' ? -1 : undefined;
}

/** Sends each member its part of a flush. `countsAll`: what is missed counts with all changes, not with fires alone. */
export function deliver(
  members: Members,
  shared: Packer,
  variants: readonly Variant[],
  before: number,
  countsAll: boolean,
): void {
  /** Who misses batches, from which on. */
  const missing: Missing[] = [];
  for (const { from, clients } of variants) if (from === undefined) tellFires(members, clients, shared, missing);
  sendLive(members, shared, before, missing);
  countMissing(members, shared.batches, missing, countsAll);
  for (const { from, packer, clients } of variants)
    for (const client of clients) {
      if (from !== undefined) deliverTo(members, client, packer, before);
      members.settle(client);
    }
}

type Missing = readonly [client: Client, first: number];

/** Who is catching up hears of fires. Who is behind, and is not counted with others yet, has missed all. */
function tellFires(members: Members, clients: readonly Client[], { batches }: Packer, missing: Missing[]): void {
  const frames = fireFrames(batches);
  for (const client of clients) {
    if (client.membership.name === 'behind') members.miss(client, batches);
    else if (frames.length > 0 && client.isFull) missing.push([client, 0]);
    else if (frames.length > 0) client.sendAll(frames);
  }
}

function sendLive(members: Members, shared: Packer, before: number, missing: Missing[]): void {
  const { live } = members;
  for (let place = live.length - 1; place >= 0; place--) {
    const client = live[place]!;
    const taken = send(client, shared);
    if (taken === shared.batches.length) continue;
    members.fallBack(client, before);
    missing.push([client, taken]);
  }
}

function countMissing(members: Members, batches: readonly Batch[], missing: readonly Missing[], all: boolean): void {
  const { losses } = members;
  if (missing.length === 0 && !losses.isOpen) return;
  for (const [index, { channels }] of batches.entries()) {
    for (const [client, first] of missing) if (first === index) members.count(client);
    losses.count(all ? channels : channels.filter(isFire));
  }
}

/** Sends to a client for which it was encoded apart. */
function deliverTo(members: Members, client: Client, packer: Packer, before: number): void {
  const { batches } = packer;
  const { name } = client.membership;
  if (name === 'fresh' || name === 'extending') {
    const taken = send(client, packer);
    if (taken === batches.length) return;
    members.fallBack(client, before);
    members.miss(client, batches.slice(taken));
  } else if (name === 'catching up' && !client.isFull) client.sendAll(fireFrames(batches));
  else members.miss(client, batches);
}
