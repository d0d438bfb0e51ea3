// How long something takes, as a histogram.

/** The upper bounds of its buckets, in seconds: 10 µs to 5 s. */
export const durationBounds = [1e-5, 1e-4, 1e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.25, 1, 5] as const;

export class Durations {
  /** How many were in each bucket; in the last one those that took longer than all bounds. */
  readonly counts: number[] = new Array<number>(durationBounds.length + 1).fill(0);
  /** All of them together, in seconds. */
  sum = 0;

  add(seconds: number): void {
    let bucket = 0;
    while (bucket < durationBounds.length && seconds > durationBounds[bucket]!) bucket++;
    this.counts[bucket]!++;
    this.sum += seconds;
  }
}
