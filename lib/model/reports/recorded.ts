// What came from outside of a hub, as it came.

import type { Change } from '../parameter.ts';

export interface OutsideTurn {
  /** Milliseconds since the recording began. */
  readonly atMs: number;
  readonly writes: readonly Change[];
}

/** A recording that goes on. */
export interface Recording {
  /** When it began, in milliseconds since 1970. */
  readonly time: number;
  /** Milliseconds since then. */
  elapsedMs(): number;
  stop(): void;
}
