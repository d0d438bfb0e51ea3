// Counts millions of durations in steps of 0.1 ms, up to ten seconds, to get percentiles without storing or sorting them.

const stepsPerMs = 10;
const longestMs = 10_000;

export class Histogram {
  readonly #counts = new Float64Array(longestMs * stepsPerMs + 1);
  #total = 0;

  /** How many were counted. */
  get total(): number {
    return this.#total;
  }

  /** Counts a duration; one below 0 as 0, one that is longer than ten seconds as ten. */
  add(durationMs: number): void {
    const step = Math.max(0, Math.min(this.#counts.length - 1, Math.floor(durationMs * stepsPerMs)));
    this.#counts[step]!++;
    this.#total++;
  }

  /** The duration in ms, to the upper end of its step, that the fraction (0..1) of all does not exceed; NaN of none. */
  percentile(fraction: number): number {
    let below = this.#total * fraction;
    for (const [step, count] of this.#counts.entries()) {
      below -= count;
      if (below <= 0 && this.#total > 0) return (step + 1) / stepsPerMs;
    }
    return Number.NaN;
  }

  clear(): void {
    this.#counts.fill(0);
    this.#total = 0;
  }
}
