// The frames of patchbay.v1 that carry values (docs/protocol.md "What the hub sends"), and how long lists are divided into frames. No frame
// is much longer than a piece that uWebSockets.js sends in one go.

import type { Parameter } from '../../../../model/parameter.ts';
import type { Value } from '../../../../model/value.ts';
import { accessCodes, type HubMessage } from '../../../../wire/v1/hub-messages.ts';
import type { Channel } from '../fan-out.ts';

/** The length at which a frame ends, in characters; a frame with a single value may be longer. */
export const frameLength = 15_000;

/** Encodes a `patchbay.v1` message that contains no values. */
export function encode(message: HubMessage): string {
  return JSON.stringify(message);
}

/** Encodes the definition of a parameter: `[7,"desk/lamp","B","rw"]`. */
export function definition({ id, parameter: { address, type, access } }: Channel): string {
  return `[${id},${JSON.stringify(address)},"${type}","${accessCodes[access]}"]`;
}

/** Encodes the value of a parameter with its ID: `[7,true]`. */
export function item(id: number, value: Value): string {
  return `[${id},${typeof value === 'string' ? JSON.stringify(value) : value}]`;
}

/** Returns the encoded value for a revision, which is encoded only once, no matter how many groups send it. */
export function itemOf(channel: Channel, value: Value, revision: number): string {
  return channel.itemOf(value, revision, item);
}

export function defFrame(definitions: string): string {
  return `{"def":[${definitions}]}`;
}

/** Returns a `set` frame with encoded values, joined by commas. Without `revision`, the frame confirms no revision. */
export function setFrame(items: string, revision: number | undefined): string {
  return revision === undefined ? `{"set":[${items}]}` : `{"set":[${items}],"rev":${revision}}`;
}

export function firedFrame(ids: string, revision: number | undefined): string {
  return revision === undefined ? `{"fired":[${ids}]}` : `{"fired":[${ids}],"rev":${revision}}`;
}

/** Returns a `lost` frame. `counts` contains pairs such as `"9":3`, joined by commas. */
export function lostFrame(counts: string): string {
  return `{"lost":{${counts}}}`;
}

/** Joins strings with commas, and yields pieces that are not much longer than a frame. */
export function* cut(texts: Iterable<string>): Generator<string, void, void> {
  let piece = '';
  for (const text of texts) {
    piece = piece === '' ? text : `${piece},${text}`;
    if (piece.length < frameLength) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/** Returns whether a parameter is a trigger, which has no value that could be sent again. */
export function isTrigger({ type }: Parameter): boolean {
  return type === 'T';
}
