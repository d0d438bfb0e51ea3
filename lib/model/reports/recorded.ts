// What came from outside of a hub, as it came.

import type { Origin } from '../parameter.ts';
import type { Value } from '../value.ts';

export interface OutsideTurn {
  /** Milliseconds since the recording began. */
  readonly atMs: number;
  readonly writes: readonly RecordedWrite[];
}

export interface RecordedWrite {
  readonly address: string;
  /** What was written, where the parameter reads that in its own way; else what it became. */
  readonly value: Value;
  readonly origin: Origin;
}

/** A recording that goes on. */
export interface Recording {
  /** When it began, in milliseconds since 1970. */
  readonly time: number;
  /** Milliseconds since then. */
  elapsedMs(): number;
  stop(): void;
}
