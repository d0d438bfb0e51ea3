// The pauses before what has failed is tried again: each is twice as long as the one before, up to the longest.

export interface BackoffTimes {
  readonly firstMs: number;
  readonly longestMs: number;
  /** What ran for this long before it failed starts anew with the first pause. */
  readonly provenMs?: number;
}

/** For what a hub starts again when it has crashed: connections, parts of a store, rules in TypeScript. */
export const restartTimes: BackoffTimes = { firstMs: 1000, longestMs: 30_000, provenMs: 60_000 };

export class Backoff {
  readonly #times: Required<BackoffTimes>;
  #failures = 0;

  constructor({ firstMs, longestMs, provenMs = Number.POSITIVE_INFINITY }: BackoffTimes) {
    this.#times = { firstMs, longestMs, provenMs };
  }

  /** Hears for how long what has failed now had run before. */
  ran(ranMs: number): void {
    if (ranMs >= this.#times.provenMs) this.reset();
  }

  /** Counts a failure; returns the pause after it, in milliseconds. */
  next(): number {
    const { firstMs, longestMs } = this.#times;
    return Math.min(firstMs * 2 ** this.#failures++, longestMs);
  }

  /** All is well again: the next failure is followed by the first pause. */
  reset(): void {
    this.#failures = 0;
  }
}
