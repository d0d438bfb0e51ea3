// What the hub's thread asks of the thread that writes values, and what it is answered: one question at a time.
import type { Value, ValueType } from '../../../../model/value.ts';
import type { KeptMemory } from '../../../persistence.ts';
import type { PackedRows } from '../../packed-rows.ts';

/** The folder of a store and the bound of its database. */
export interface OpenRequest {
  readonly ask: 'open';
  readonly folder: string;
  /** How large the database may become, in bytes. */
  readonly maxBytes: number;
  /** Whether what the database holds is wanted. */
  readonly isRead: boolean;
}

/** A value, when it was set, in milliseconds since 1970, and the change that has set it, as `CausesWriter` writes it. */
export type ValueRow = readonly [address: string, type: ValueType, value: Value, time: number, causes: string];

/** The newest state of some parameters, and of what is under way, to be written in one transaction. */
export interface Batch {
  readonly values: readonly ValueRow[];
  /** A memory as JSON; undefined: it is forgotten. */
  readonly memories: readonly (readonly [connection: string, name: string, memory: string | undefined])[];
  /** Undefined: nothing of them has changed. */
  readonly snapshots: SnapshotBatch | undefined;
  /** The addresses of values that are kept no longer. */
  readonly forgotten?: readonly string[];
}

/** A batch on its way; its values are `ValueRow`s. */
export type PackedBatch = Omit<Batch, 'values'> & { readonly values: PackedRows };

/** A snapshot. `contents` has its values as `snapshots/live-selection.ts` writes them; `bytes` is how long that is. */
export interface SnapshotRow {
  readonly selection: string;
  readonly name: string;
  readonly time: number;
  readonly parameters: number;
  readonly contents: string;
  readonly bytes: number;
}

/** What has changed of the snapshots. */
export interface SnapshotBatch {
  /** Whether these are all: what else the disk has is forgotten. */
  readonly isAnew: boolean;
  readonly saved: readonly SnapshotRow[];
  readonly forgotten: readonly (readonly [selection: string, name: string])[];
  /** The snapshot of a selection that was last saved or recalled; undefined: none. */
  readonly last: readonly (readonly [selection: string, name: string | undefined])[];
}

/** All snapshots, oldest first. */
export type KeptSnapshots = Pick<SnapshotBatch, 'saved' | 'last'>;

export type Request =
  | OpenRequest
  | { readonly ask: 'write'; readonly batch: PackedBatch }
  /** Forgets every value whose address is not one of these, since there is no room. */
  | { readonly ask: 'make room'; readonly addresses: readonly string[] }
  | { readonly ask: 'close' };

/** What a database held when it was opened. */
export interface Held {
  readonly values: readonly ValueRow[];
  readonly memories: readonly KeptMemory[];
  readonly snapshots: KeptSnapshots;
  /** What was left out, by name: its row was not as it was written. */
  readonly damaged: readonly string[];
}

/** What opening a database came to. */
export interface OpenedStored<Held> {
  /** What was lost, and why, a sentence each; empty when all is well. */
  readonly losses: readonly string[];
  /** What it held; undefined: it is new, or cannot be read. */
  readonly held: Held | undefined;
  /** Why nothing can be written at the moment; undefined: the database is open. */
  readonly reason: string | undefined;
  /** How old the copy of the last hour is, in milliseconds; undefined: there is none. */
  readonly copyAgeMs: number | undefined;
}

export type Opened = OpenedStored<Held>;

/** Rows that the database cannot take, and why the first one. */
export interface LeftOut {
  readonly count: number;
  readonly first: string;
}

/** What writing came to. `isUsedUp`: the room of the database is used up, and not that of the disk. After `damaged` and `closed` the database has to be opened again. */
export type Written =
  | { readonly state: 'written'; readonly leftOut?: LeftOut | undefined }
  | { readonly state: 'full'; readonly reason: string; readonly isUsedUp?: boolean }
  | { readonly state: 'damaged' | 'closed'; readonly reason: string };

/** What copying came to. */
export type Copied = { readonly state: 'copied' } | { readonly state: 'failed' | 'damaged'; readonly reason: string };

export type Answer = { readonly opened: Opened } | { readonly written: Written } | { readonly done: true };
