// How the fan-out load talks to one kind of server: how its sockets subscribe, how it makes changes, and which frames it expects in return.
// Changes go out in batches; a receiver counts the batches that have arrived in full.

import { connectionId } from '../../../spec/support/load/many-parameters.ts';

/** How a socket subscribes to changes. */
export interface Entry {
  /** Path and query. */
  readonly path: string;
  /** The requested subprotocol; omitted: none. */
  readonly protocol?: string;
  /** The frames sent first; omitted: none. */
  readonly greeting?: Buffer;
}

export interface Dialect {
  /** For a socket that receives every change. */
  readonly entry: Entry;
  /** For a socket that subscribes to other parameters, 1, 2, 3 …, and so receives no change. */
  bystander(index: number): Entry;
  /** The frames that make the changes of a batch: 0, 1, 2 … Call it only once a receiver is ready. */
  batch(index: number): Buffer;
  createReceiver(): Receiver;
}

/** Checks and counts what one socket receives. */
export interface Receiver {
  /** Whether the socket receives every change from now on. */
  readonly isReady: boolean;
  /** Number of batches that have arrived in full. */
  readonly batches: number;
  /** Reads a chunk; returns the bytes to answer with, if any. Errors: anything unexpected. */
  read(chunk: Buffer, length: number): Buffer | undefined;
  /** Describes what is missing or surplus after `batches` batches were sent; undefined: nothing. */
  countMistake(batches: number): string | undefined;
}

/** The pattern of subscription `index`, 0..9999, as a regular expression and as a glob. */
export function filteredGroup(index: number): { readonly regex: string; readonly glob: string } {
  const start = `${connectionId}/group-${index % 10}/sensor-${Math.floor(index / 10)}`;
  return { regex: `^${start}`, glob: `${start}*` };
}
