// Whether one hub is better than another, from rounds in which both ran side by side. Each round gives a ratio. The interval
// between two of the sorted ratios holds the true median with a probability of at least 95 % (the sign test): with 6 to 8
// rounds that is from the least to the most. A difference counts when all of the interval is on one side of 1, and its middle
// at least 3 % away from it: less than that a machine does by itself.

import { percentile, sort } from '../../spec/support/statistics.ts';

type Verdict = 'better' | 'worse' | 'no difference' | 'undecided';

export interface Judgement {
  readonly verdict: Verdict;
  /** The median of the ratios, and the interval that holds the true one; NaN without ratios. */
  readonly median: number;
  readonly low: number;
  readonly high: number;
  /** How much two rounds of the same hub differ, the median of it: the noise of the machine, 0.05 is 5 %. */
  readonly noise: number;
}

const leastDifference = 0.03;
const confidence = 0.95;

/**
 * Judges figures of the same rounds, a pair per round; a round in which either is missing counts for nothing. Undecided with
 * fewer than six rounds.
 */
export function judgeDifference(
  before: readonly (number | undefined)[],
  after: readonly (number | undefined)[],
  better: 'more' | 'less',
): Judgement {
  const ratios = sort(
    after.map((value, round) => (value ?? Number.NaN) / (before[round] ?? Number.NaN)).filter(Number.isFinite),
  );
  const noise = noiseOf(before);
  if (ratios.length === 0)
    return { verdict: 'undecided', median: Number.NaN, low: Number.NaN, high: Number.NaN, noise };
  const median = percentile(ratios, 0.5);
  const skipped = skippedAtEachEnd(ratios.length);
  const low = ratios[skipped ?? 0]!;
  const high = ratios.at(-1 - (skipped ?? 0))!;
  return { verdict: verdictOf(), median, low, high, noise };

  function verdictOf(): Verdict {
    if (skipped === undefined) return 'undecided';
    if (Math.abs(median - 1) < leastDifference || (low <= 1 && high >= 1)) return 'no difference';
    return median > 1 === (better === 'more') ? 'better' : 'worse';
  }
}

/** How many of sorted ratios are left out at each end so that the rest holds the median; undefined: there are too few. */
export function skippedAtEachEnd(count: number): number | undefined {
  let chance = 2 ** -count; // that no ratio, then that one, two … are below the true median
  let outside = 2 * chance;
  if (outside > 1 - confidence) return undefined;
  for (let skipped = 0; ; skipped++) {
    chance *= (count - skipped) / (skipped + 1);
    outside += 2 * chance;
    if (outside > 1 - confidence) return skipped;
  }
}

function noiseOf(samples: readonly (number | undefined)[]): number {
  const values = samples.filter((value) => value !== undefined);
  const differences = values.slice(1).map((value, index) => Math.abs(value / values[index]! - 1));
  return differences.length === 0 ? Number.NaN : percentile(sort(differences.filter(Number.isFinite)), 0.5);
}
