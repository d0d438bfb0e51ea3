// How the load of a fan-out talks to one kind of server: what its sockets ask for, what makes changes, and what must come of
// them. Changes go out in batches; a receiver counts those that have come whole.

import { connectionId } from '../../../spec/support/load/many-parameters.ts';

/** How a socket asks for changes. */
export interface Entry {
  /** Path and query. */
  readonly path: string;
  /** The subprotocol that is asked for; left out: none. */
  readonly protocol?: string;
  /** The frames that are sent first; left out: none. */
  readonly greeting?: Buffer;
}

export interface Dialect {
  /** A socket that hears of every change. */
  readonly entry: Entry;
  /** A socket that hears of other parameters, 1, 2, 3 …, and so of no change. */
  bystander(index: number): Entry;
  /** The frames that make the changes of a batch: 0, 1, 2 … Call it when a receiver is ready. */
  batch(index: number): Buffer;
  createReceiver(): Receiver;
}

/** What one socket has received. */
export interface Receiver {
  /** Whether the socket hears of every change from now on. */
  readonly isReady: boolean;
  /** How many batches have come whole. */
  readonly batches: number;
  /** Reads what has come; returns what is to be answered, if anything. Errors: what is not as it must be. */
  read(chunk: Buffer, length: number): Buffer | undefined;
  /** Says what is missing or too much when so many batches were sent; undefined: nothing. */
  countMistake(batches: number): string | undefined;
}

/** The pattern of a subscription, as a regular expression and as a glob, for 0..9999. */
export function filteredGroup(index: number): { readonly regex: string; readonly glob: string } {
  const start = `${connectionId}/group-${index % 10}/sensor-${Math.floor(index / 10)}`;
  return { regex: `^${start}`, glob: `${start}*` };
}
