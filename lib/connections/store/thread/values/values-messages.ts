// The messages between the hub's thread and the thread that writes values: one request at a time.
import type { Value, ValueType } from '../../../../model/value.ts';
import type { KeptMemory } from '../../../persistence.ts';
import type { PackedRows } from '../../packed-rows.ts';

/** The request to read a database, which is then opened: the folder of the store and the maximum size of the database. */
export interface ReadRequest {
  readonly ask: 'read';
  readonly folder: string;
  /** The maximum size of the database, in bytes. */
  readonly maxBytes: number;
  /** Whether to return the contents of the database. */
  readonly isRead: boolean;
}

/** A value with its address and type, the time of its change in milliseconds since 1970, and its causes as written by `CausesWriter`. */
export type ValueRow = readonly [address: string, type: ValueType, value: Value, time: number, causes: string];

/** The data that is written in one transaction: the newest values of some parameters, memories and snapshots. */
export interface Batch {
  readonly values: readonly ValueRow[];
  /** The memories as JSON, each with its connection and name; undefined for a deleted memory. */
  readonly memories: readonly (readonly [connection: string, name: string, memory: string | undefined])[];
  /** The changes to the snapshots; undefined if there are none. */
  readonly snapshots: SnapshotBatch | undefined;
  /** The addresses of values that are no longer kept. */
  readonly forgotten?: readonly string[];
  /**
   * The JSON of all values that have changed since the last batch without `recent`, as encoded by `recentRows`. If set, `values` and
   * `forgotten` are empty.
   */
  readonly recent?: string;
}

/** A batch on its way to the thread. Its values are packed `ValueRow`s. */
export type PackedBatch = Omit<Batch, 'values'> & { readonly values: PackedRows };

/**
 * A snapshot. `contents` contains the values in the format that `snapshots/live-selection.ts` uses; `bytes` is the size of the contents.
 */
export interface SnapshotRow {
  readonly selection: string;
  readonly name: string;
  readonly time: number;
  readonly parameters: number;
  readonly contents: string;
  readonly bytes: number;
}

/** Changes to the snapshots of a store. */
export interface SnapshotBatch {
  /** Whether the batch contains all snapshots, so that all other snapshots on disk are deleted. */
  readonly isAnew: boolean;
  readonly saved: readonly SnapshotRow[];
  readonly forgotten: readonly (readonly [selection: string, name: string])[];
  /** The snapshot that was last saved or recalled, for each selection; undefined if there is none. */
  readonly last: readonly (readonly [selection: string, name: string | undefined])[];
}

/** All snapshots, oldest first, and the last snapshot of each selection. */
export type KeptSnapshots = Pick<SnapshotBatch, 'saved' | 'last'>;

export type Request =
  | ReadRequest
  /** Opens the database that was read for writing. */
  | { readonly ask: 'open' }
  | { readonly ask: 'write'; readonly batch: PackedBatch }
  /** Deletes every value whose address is not in the list, to free space. */
  | { readonly ask: 'make room'; readonly addresses: readonly string[] }
  | { readonly ask: 'close' };

/** The contents of a database of values at the time of opening. */
export interface Held {
  readonly values: readonly ValueRow[];
  readonly memories: readonly KeptMemory[];
  readonly snapshots: KeptSnapshots;
  /** The names of the damaged rows, which are omitted. */
  readonly damaged: readonly string[];
}

/** The result of reading a database of the store. */
export interface ReadStored<Held> {
  /** The contents; undefined if the database is new or unreadable. */
  readonly held: Held | undefined;
  /** The reason why nothing can currently be written; undefined if nothing has prevented writing so far. */
  readonly reason: string | undefined;
}

/** The result of opening a database of the store for writing. Without a reason, the database is open. */
export interface OpenedStored<Held> extends ReadStored<Held> {
  /** One sentence per loss, with its reason; empty if nothing was lost. */
  readonly losses: readonly string[];
  /** The age of the hourly copy, in milliseconds; undefined if there is none. */
  readonly copyAgeMs: number | undefined;
}

export type Read = ReadStored<Held>;
export type Opened = OpenedStored<Held>;

/** The number of rows that the database refused; `first` names the first of these rows and its error. */
export interface LeftOut {
  readonly count: number;
  readonly first: string;
}

/**
 * The result of a write. `isUsedUp` means that the database, not the disk, is full. After `damaged` or `closed`, the database must be
 * reopened.
 */
export type Written =
  | { readonly state: 'written'; readonly leftOut?: LeftOut | undefined }
  | { readonly state: 'full'; readonly reason: string; readonly isUsedUp?: boolean }
  | { readonly state: 'damaged' | 'closed'; readonly reason: string };

/** The result of making an hourly copy. */
export type Copied = { readonly state: 'copied' } | { readonly state: 'failed' | 'damaged'; readonly reason: string };

export type Answer =
  | { readonly read: Read }
  | { readonly opened: Omit<Opened, 'held'> }
  | { readonly written: Written }
  | { readonly done: true };
