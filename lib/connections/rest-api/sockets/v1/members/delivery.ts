// How batches come to a client: as many as it has room for, with the definitions that it lacks.

import type { Channel } from '../../channel.ts';
import type { FanOut } from '../../fan-out.ts';
import type { Client } from '../client.ts';
import { cut, defFrame, definition, firedFrame, isTrigger, lostFrame, setFrame } from '../frames.ts';
import type { GroupChannel } from '../outboxes/group-channel.ts';
import type { Batch, Packer } from '../outboxes/packer.ts';

/** Sends batches to a client until it is full; returns how many it took. */
export function send(client: Client, { batches, leastPrevious }: Packer): number {
  const lacksAll = client.isBeingDefined;
  const lacksSome = lacksAll || client.definitions.mayLack(leastPrevious);
  let next = 0;
  for (; next < batches.length && !client.isFull; next++) {
    if (lacksSome) sendDefinitions(client, batches[next]!, lacksAll);
    client.sendAll(batches[next]!.frames);
  }
  return next;
}

function sendDefinitions(client: Client, { channels }: Batch, lacksAll: boolean): void {
  const lacking = lacksAll ? channels : channels.filter((one) => client.definitions.lack(one));
  for (const definitions of cut(definitionsOf(lacking))) client.send(defFrame(definitions));
}

/** The fires of batches with their definitions, for those who are catching up. */
export function fireFrames(batches: readonly Batch[]): Uint8Array[] {
  const fires = batches.flatMap(({ channels }) => channels.filter(isFire));
  const definitions = [...cut(definitionsOf(fires))].map(defFrame);
  const ids = [...cut(fires.map(({ channel }) => String(channel.id)))].map((some) => firedFrame(some, undefined));
  return [...definitions, ...ids].map((frame) => Buffer.from(frame));
}

/** Sends a client a frame of each kind of what it has missed and still wants; `total` counts what is lost. */
export function sendMissed(client: Client, isWanted: (channel: Channel) => boolean, total: FanOut['lost']): void {
  const isDefined = client.definitions.areAll && !client.isBeingDefined;
  const { definitions, lost, lostValues, lostFires, items } = client.missed.take(isWanted, isDefined);
  total.values += lostValues;
  total.fires += lostFires;
  if (definitions.length > 0) client.send(defFrame(definitions.join()));
  if (lost.length > 0) client.send(lostFrame(lost.join()));
  if (items.length > 0) client.send(setFrame(items.join(), undefined));
}

export function isFire({ channel }: GroupChannel): boolean {
  return isTrigger(channel.parameter);
}

function definitionsOf(channels: readonly GroupChannel[]): string[] {
  return [...new Set(channels.map(({ channel }) => channel))].map(definition);
}
