// The frames that say which parameters are stale, and which are fresh again.

import { wallClock } from '../../../../../model/time/wall-clock.ts';
import type { Channel } from '../../channel.ts';
import { cut, defFrame, definition } from '../frames.ts';

/** Parameters of which nothing has been heard since a time, in milliseconds since 1970; undefined: they are fresh again. */
export interface StaleChannels {
  readonly since: number | undefined;
  readonly channels: readonly Channel[];
}

/** A client, as far as it is told this. */
export interface StaleReader {
  readonly isFull: boolean;
  readonly isBeingDefined: boolean;
  readonly definitions: { readonly areAll: boolean };
  send(frame: string): void;
}

/** `{"stale":[7,9],"ageMs":3012}`, or `{"fresh":[7,9]}`. */
export function staleFrames({ since, channels }: StaleChannels): string[] {
  const ids = [...cut(channels.map(({ id }) => String(id)))];
  if (since === undefined) return ids.map((some) => `{"fresh":[${some}]}`);
  const ageMs = Math.max(0, Math.round(wallClock.now() - since));
  return ids.map((some) => `{"stale":[${some}],"ageMs":${ageMs}}`);
}

/** The definitions, for those who may lack them: who was told that something is stale knows it when it is fresh again. */
export function definitionFrames({ since, channels }: StaleChannels): string[] {
  return since === undefined ? [] : [...cut(channels.map(definition))].map(defFrame);
}

/** Whether a client has the definitions of all that its subscriptions match. */
export function knowsAll({ definitions, isBeingDefined }: StaleReader): boolean {
  return definitions.areAll && !isBeingDefined;
}

/** Sends frames as long as there is room; returns whether the client took all. */
export function sendAll(reader: StaleReader, frames: readonly string[]): boolean {
  for (const frame of frames) {
    if (reader.isFull) return false;
    reader.send(frame);
  }
  return true;
}
