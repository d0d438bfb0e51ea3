// Snapshots: saved values of a selection of parameters, to be recalled.

import type { Value, ValueType } from '../value.ts';

/** The snapshots of a selection. */
export interface SnapshotSelection {
  readonly name: string;
  /** Newest first. */
  readonly saved: readonly SavedSnapshot[];
  /** The last saved or recalled snapshot, as long as recalling it would write nothing. */
  readonly matches: string | undefined;
}

export interface SavedSnapshot {
  readonly name: string;
  /** When it was saved, in milliseconds since 1970. */
  readonly time: number;
  /** The number of its parameters. */
  readonly parameters: number;
}

/** A snapshot, compared with the current values. */
export interface Snapshot {
  readonly selection: string;
  readonly name: string;
  readonly time: number;
  /** In recall order; values that no recall writes come last. */
  readonly values: readonly SnapshotValue[];
}

export interface SnapshotValue {
  /** The address. */
  readonly parameter: string;
  readonly type: ValueType;
  readonly value: Value;
  /** Undefined if the state is unknown, or the parameter no longer exists. */
  readonly present: Value | undefined;
  /** Whether a recall writes it. */
  readonly differs: boolean;
}
