// Snapshots: saved values of a selection of parameters, which can be recalled.

import type { Value, ValueType } from '../value.ts';

/** The saved snapshots of one selection of parameters. */
export interface SnapshotSelection {
  readonly name: string;
  /** The snapshots, newest first. */
  readonly saved: readonly SavedSnapshot[];
  /** The name of the last saved or recalled snapshot, if recalling this snapshot would write nothing. */
  readonly matches: string | undefined;
}

export interface SavedSnapshot {
  readonly name: string;
  /** When the snapshot was saved, in milliseconds since 1970. */
  readonly time: number;
  /** The number of parameters in the snapshot. */
  readonly parameters: number;
}

/** A snapshot whose values are compared with the current values. */
export interface Snapshot {
  readonly selection: string;
  readonly name: string;
  readonly time: number;
  /** The values in recall order, followed by the values that are not written by a recall. */
  readonly values: readonly SnapshotValue[];
}

export interface SnapshotValue {
  /** The address of the parameter. */
  readonly parameter: string;
  readonly type: ValueType;
  readonly value: Value;
  /** The current value. Undefined if the value is unknown, or if the parameter no longer exists. */
  readonly present: Value | undefined;
  /** Whether a recall of the snapshot writes the value. */
  readonly differs: boolean;
}
