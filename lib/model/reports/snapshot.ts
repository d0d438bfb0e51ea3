// Snapshots: values of a selection of parameters, kept under a name to be recalled.

import type { Value, ValueType } from '../value.ts';

/** The snapshots of a selection. */
export interface SnapshotSelection {
  readonly name: string;
  /** The newest first. */
  readonly saved: readonly SavedSnapshot[];
  /** The snapshot that was last saved or recalled, while a recall of it would write nothing. */
  readonly matches: string | undefined;
}

export interface SavedSnapshot {
  readonly name: string;
  /** When it was saved, in milliseconds since 1970. */
  readonly time: number;
  /** How many parameters it has. */
  readonly parameters: number;
}

/** A snapshot beside what is now. */
export interface Snapshot {
  readonly selection: string;
  readonly name: string;
  readonly time: number;
  /** In the order in which they are recalled; last those that no recall writes. */
  readonly values: readonly SnapshotValue[];
}

export interface SnapshotValue {
  /** Its address. */
  readonly parameter: string;
  readonly type: ValueType;
  readonly value: Value;
  /** Undefined: its state is unknown, or there is no such parameter any more. */
  readonly present: Value | undefined;
  /** Whether a recall writes it. */
  readonly differs: boolean;
}
