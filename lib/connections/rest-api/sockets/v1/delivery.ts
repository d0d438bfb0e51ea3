// How parcels come to a client: as many as it has room for, with the definitions that it lacks; the rest it has missed.

import type { Client } from './client.ts';
import { cut, defFrame, definition, firedFrame, isTrigger, type Packer, type Parcel } from './frames.ts';
import type { Slot } from './slot.ts';

/** Sends parcels to a client until it is full; returns how many it took. */
export function send(client: Client, { parcels, leastPrevious }: Packer): number {
  const lacksAll = client.catchUp !== undefined;
  const lacksSome = leastPrevious <= client.firesDefinedAfter;
  let next = 0;
  for (; next < parcels.length && !client.isFull; next++) {
    if (lacksAll || lacksSome) sendDefinitions(client, parcels[next]!, lacksAll);
    client.sendAll(parcels[next]!.frames);
  }
  return next;
}

/** A client that has resumed knows the definitions of what has changed since, and is sent others when they are needed. */
function sendDefinitions(client: Client, { slots }: Parcel, lacksAll: boolean): void {
  const lacking = slots.filter(
    ({ previousRevision, feed }) =>
      lacksAll || previousRevision <= (isTrigger(feed.parameter) ? client.firesDefinedAfter : client.definedAfter),
  );
  for (const definitions of cut(definitionsOf(lacking))) client.send(defFrame(definitions));
}

/** The fires of parcels with their definitions, for those who are being sent pictures. */
export function fireFrames(parcels: readonly Parcel[]): Uint8Array[] {
  const fires = parcels.flatMap(({ slots }) => slots.filter(({ feed }) => isTrigger(feed.parameter)));
  const definitions = [...cut(definitionsOf(fires))].map(defFrame);
  const ids = [...cut(fires.map(({ feed }) => String(feed.id)))].map((some) => firedFrame(some, undefined));
  return [...definitions, ...ids].map((frame) => Buffer.from(frame));
}

function definitionsOf(slots: readonly Slot[]): string[] {
  return [...new Set(slots.map(({ feed }) => feed))].map(definition);
}

/** Counts all changes of parcels as missed. */
export function miss(client: Client, parcels: readonly Parcel[]): void {
  for (const { slots } of parcels) for (const slot of slots) note(client, slot, 1);
}

/** Counts changes that a client has missed: of a parameter of which it wants the newest value alone, one is enough. */
export function note(client: Client, { feed, lane }: Slot, count: number): void {
  const isState = !isTrigger(feed.parameter);
  if (isState && client.missesOnlyFires) return;
  const isCounted = !isState || lane.delivery === 'all';
  client.miss(feed, isCounted ? (client.missed.get(feed) ?? 0) + count : 1);
}
