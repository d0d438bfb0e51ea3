// The pauses between attempts: each pause is twice as long as the previous one, up to a maximum.

export interface BackoffTimes {
  readonly firstMs: number;
  readonly longestMs: number;
  /** The minimum duration of a run, in milliseconds, after which the pauses start over. */
  readonly provenMs?: number;
}

/** The pauses before the hub restarts crashed connections, parts of a store, and TypeScript rules. */
export const restartTimes: BackoffTimes = { firstMs: 1000, longestMs: 30_000, provenMs: 60_000 };

export class Backoff {
  readonly #times: Required<BackoffTimes>;
  #failures = 0;

  constructor({ firstMs, longestMs, provenMs = Number.POSITIVE_INFINITY }: BackoffTimes) {
    this.#times = { firstMs, longestMs, provenMs };
  }

  /** Records how long the last attempt ran before it failed, in milliseconds. */
  ran(ranMs: number): void {
    if (ranMs >= this.#times.provenMs) this.reset();
  }

  /** Counts a failure and returns the pause after it, in milliseconds. */
  next(): number {
    const { firstMs, longestMs } = this.#times;
    return Math.min(firstMs * 2 ** this.#failures++, longestMs);
  }

  /** Makes the pauses start over after a success. */
  reset(): void {
    this.#failures = 0;
  }
}

/** How long after its last sign of life a host is expected to be back soon, in milliseconds. */
export const recentMs = 600_000;
const apartMs = 4000;
const leastPauseMs = 1000;

/**
 * Returns the longest pause before a host that was recently alive is tried again, in milliseconds, given the duration of the last attempt.
 * Attempts begin 4 s apart, or 1 s after an attempt that took longer.
 */
export function longestRecentPauseMs(tookMs: number): number {
  return Math.max(leastPauseMs, apartMs - tookMs);
}
