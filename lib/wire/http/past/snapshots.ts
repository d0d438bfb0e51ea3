// The snapshots that a store keeps.

import type * as model from '../../../model/reports/snapshot.ts';
import type { IsoTime } from '../../time.ts';

/** `GET /hub/snapshots` answers with `{"connection":"store","selections":[{"name":"studio-1","saved":[{"name":"evening",…}],"matches":"evening"}]}`. */
export interface SnapshotList {
  /** The Connection ID of the store. */
  readonly connection: string;
  /** In the order of the settings of the store. */
  readonly selections: readonly SnapshotSelection[];
}

/** Snapshots are saved and recalled by `<connection>/<name>/save` and `/recall`. */
export interface SnapshotSelection extends Pick<model.SnapshotSelection, 'name'> {
  /** The newest first. */
  readonly saved: readonly SavedSnapshot[];
  /** The snapshot that was last saved or recalled, while a recall of it would write nothing. */
  readonly matches?: string | undefined;
}

export interface SavedSnapshot extends Pick<model.SavedSnapshot, 'name'> {
  readonly time: IsoTime;
  /** How many parameters it has; left out for those who may not read all. */
  readonly parameters?: number | undefined;
}

/**
 * `GET /hub/snapshots/studio-1/evening` answers with
 * `{"selection":"studio-1","name":"evening","time":"2026-…","values":[{"parameter":"desk/lamp","type":"B","value":true,"present":false,"differs":true}]}`.
 */
export interface Snapshot extends Omit<model.Snapshot, 'time' | 'values'> {
  readonly time: IsoTime;
  /** In the order in which they are recalled; last those that no recall writes. */
  readonly values: readonly SnapshotValue[];
}

export interface SnapshotValue extends Omit<model.SnapshotValue, 'present'> {
  /** Left out while the state is unknown, and when there is no such parameter any more. */
  readonly present?: model.SnapshotValue['present'];
}
