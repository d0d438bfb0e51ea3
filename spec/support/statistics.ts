// The few figures that a benchmark reports of its samples: the median and the extremes of rounds, percentiles of many.

/** What is reported of one metric over all rounds. */
export interface Summary {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** Summarizes samples in any order. Errors: `RangeError` when there is none. */
export function summarize(samples: Iterable<number>): Summary {
  const sorted = sort(samples);
  return { median: percentile(sorted, 0.5), least: percentile(sorted, 0), most: percentile(sorted, 1) };
}

/** Sorts a copy, ascending. */
export function sort(samples: Iterable<number>): Float64Array {
  return Float64Array.from(samples).sort();
}

/** The value below which the fraction (0..1) of sorted samples lies, between two of them by proportion. Errors: `RangeError`. */
export function percentile(sorted: ArrayLike<number>, fraction: number): number {
  if (sorted.length === 0) throw new RangeError('expected at least one sample, got none');
  if (!(fraction >= 0 && fraction <= 1)) throw new RangeError(`expected a fraction 0..1, got ${fraction}`);
  const place = (sorted.length - 1) * fraction;
  const below = sorted[Math.floor(place)]!;
  const above = sorted[Math.ceil(place)]!;
  return below + (above - below) * (place - Math.floor(place));
}
