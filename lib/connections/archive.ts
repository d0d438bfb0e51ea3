// What a running store can be asked for: everything that it knows of earlier times. Gateways answer their clients with it.

import type { Snapshot, SnapshotSelection } from '../model/snapshot.ts';

/** Each part of a store offers what it can be asked for; what is left out, no part that runs has. */
export interface Archive {
  readonly snapshots?: SnapshotArchive;
}

export interface SnapshotArchive {
  /** All selections with their snapshots. */
  list(): readonly SnapshotSelection[];
  /** A snapshot beside what is now. Errors: `not-found` with the nearest name. */
  compare(selection: string, name: string): Snapshot;
}
