// What a running store can be asked for: everything that it knows of earlier times. Gateways answer their clients with it.

import type { Snapshot, SnapshotSelection } from '../model/snapshot.ts';

/** Each part of a store offers what it can be asked for; what is left out, no part that runs has. */
export interface Archive {
  readonly storage?: StorageArchive;
  readonly values?: WritingArchive;
  readonly history?: WritingArchive;
  readonly audit?: WritingArchive;
  readonly snapshots?: SnapshotArchive;
}

/** The files of a store, as a whole. */
export interface StorageArchive {
  readonly folder: string;
  /** How much room the databases may take. */
  readonly maxBytes: number;
}

/** A part that writes what happens. */
export interface WritingArchive {
  status(): WritingStatus;
}

export interface WritingStatus {
  /** How many rows were written in a second, over the last ten. */
  readonly perSecond: number;
  /** How old the oldest change is that is not on the disk yet, in milliseconds; 0: all of them are. */
  readonly lagMs: number;
  /** How many changes were not recorded since the hub started. */
  readonly lost: number;
  /** The time of the oldest row, in milliseconds since 1970; undefined: there is none, or it is not told. */
  readonly oldest?: number | undefined;
}

export interface SnapshotArchive {
  /** All selections with their snapshots. */
  list(): readonly SnapshotSelection[];
  /** A snapshot beside what is now. Errors: `not-found` with the nearest name. */
  compare(selection: string, name: string): Snapshot;
}
