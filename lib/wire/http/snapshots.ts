// The snapshots that a store keeps.

import type { Value, ValueType } from '../../model/value.ts';
import type { IsoTime } from '../time.ts';

/** `GET /hub/snapshots` answers with `{"selections":[{"name":"studio-1","saved":[{"name":"evening",…}],"matches":"evening"}]}`. */
export interface SnapshotList {
  /** In the order of the settings of the store. */
  readonly selections: readonly SnapshotSelection[];
}

export interface SnapshotSelection {
  /** Snapshots are saved and recalled by `<Connection ID of the store>/<name>/save` and `/recall`. */
  readonly name: string;
  /** The newest first. */
  readonly saved: readonly SavedSnapshot[];
  /** The snapshot that was last saved or recalled, while the present values are those of it. */
  readonly matches?: string | undefined;
}

export interface SavedSnapshot {
  readonly name: string;
  readonly time: IsoTime;
  /** How many parameters it has. */
  readonly parameters: number;
}

/**
 * `GET /hub/snapshots/studio-1/evening` answers with
 * `{"selection":"studio-1","name":"evening","time":"2026-…","values":[{"parameter":"desk/lamp","type":"B","value":true,"present":false,"differs":true}]}`.
 */
export interface Snapshot {
  readonly selection: string;
  readonly name: string;
  readonly time: IsoTime;
  /** In the order in which they are recalled. */
  readonly values: readonly SnapshotValue[];
}

export interface SnapshotValue {
  /** Its address. */
  readonly parameter: string;
  readonly type: ValueType;
  readonly value: Value;
  /** Left out while the state is unknown, and when there is no such parameter any more. */
  readonly present?: Value | undefined;
  /** Whether a recall writes it. */
  readonly differs: boolean;
}
