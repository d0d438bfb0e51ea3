// How parcels come to a client: as many as it has room for, with the definitions that it lacks; the rest it has missed.

import type { Client } from '../client.ts';
import { cut, defFrame, definition, firedFrame, isTrigger, type Packer, type Parcel } from '../frames.ts';
import type { Slot } from '../group/group-channel.ts';

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
    ({ previousRevision, channel }) =>
      lacksAll || previousRevision <= (isTrigger(channel.parameter) ? client.firesDefinedAfter : client.definedAfter),
  );
  for (const definitions of cut(definitionsOf(lacking))) client.send(defFrame(definitions));
}

/** The fires of parcels with their definitions, for those who are being sent pictures. */
export function fireFrames(parcels: readonly Parcel[]): Uint8Array[] {
  const fires = parcels.flatMap(({ slots }) => slots.filter(({ channel }) => isTrigger(channel.parameter)));
  const definitions = [...cut(definitionsOf(fires))].map(defFrame);
  const ids = [...cut(fires.map(({ channel }) => String(channel.id)))].map((some) => firedFrame(some, undefined));
  return [...definitions, ...ids].map((frame) => Buffer.from(frame));
}

function definitionsOf(slots: readonly Slot[]): string[] {
  return [...new Set(slots.map(({ channel }) => channel))].map(definition);
}

/** Counts all changes of parcels as missed. */
export function miss(client: Client, parcels: readonly Parcel[]): void {
  for (const { slots } of parcels) for (const slot of slots) note(client, slot, 1);
}

/** Counts changes that a client has missed: of a parameter of which it wants the newest value alone, one is enough. */
export function note(client: Client, { channel, lane }: Slot, count: number): void {
  const isState = !isTrigger(channel.parameter);
  if (isState && client.missesOnlyFires) return;
  const isCounted = !isState || lane.delivery === 'all';
  client.miss(channel, isCounted ? (client.missed.get(channel) ?? 0) + count : 1);
}
