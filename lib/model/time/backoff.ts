// The pauses between attempts: each is twice as long as the one before, up to a maximum.

export interface BackoffTimes {
  readonly firstMs: number;
  readonly longestMs: number;
  /** After a run of at least this length, the pauses start over. */
  readonly provenMs?: number;
}

/** The pauses before the hub restarts crashed connections, parts of a store, and rules in TypeScript. */
export const restartTimes: BackoffTimes = { firstMs: 1000, longestMs: 30_000, provenMs: 60_000 };

export class Backoff {
  readonly #times: Required<BackoffTimes>;
  #failures = 0;

  constructor({ firstMs, longestMs, provenMs = Number.POSITIVE_INFINITY }: BackoffTimes) {
    this.#times = { firstMs, longestMs, provenMs };
  }

  /** Notes how long the last attempt ran before it failed. */
  ran(ranMs: number): void {
    if (ranMs >= this.#times.provenMs) this.reset();
  }

  /** Counts a failure and returns the pause after it, in milliseconds. */
  next(): number {
    const { firstMs, longestMs } = this.#times;
    return Math.min(firstMs * 2 ** this.#failures++, longestMs);
  }

  /** Resets the pauses after a success. */
  reset(): void {
    this.#failures = 0;
  }
}

/** For how long after its last sign of life a host counts as one that will soon be back. */
export const recentMs = 600_000;
const apartMs = 4000;
const leastPauseMs = 1000;

/**
 * Returns the longest pause before such a host is tried again, if the last attempt took that long: attempts begin 4 s apart, or 1 s after one
 * that took longer.
 */
export function longestRecentPauseMs(tookMs: number): number {
  return Math.max(leastPauseMs, apartMs - tookMs);
}
