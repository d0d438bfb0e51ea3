// Time windows for a comparison on a machine that also does other work: in one window of each pair the hub gets the load, in the other a
// baseline beside it gets the same load. The order alternates from pair to pair to cancel out drift and disturbances.

import { summarize } from '../statistics.ts';

export interface Windows {
  /** How many pairs are compared. Two more come before them, until everything is compiled. */
  readonly pairs: number;
  /** The length of a window. */
  readonly ms: number;
}

const warmUpPairs = 2;

export function countOf({ pairs }: Windows): number {
  return 2 * (pairs + warmUpPairs);
}

/** Whether the load of a window reaches the hub. */
export function reachesHub(window: number): boolean {
  return ((window >> 1) + window) % 2 === 1;
}

/** Compares the p99 of the windows, in ms: the medians of both kinds, and the median of the ratios of the pairs. */
export function compareWindows(p99s: readonly number[]): {
  readonly beside: number;
  readonly reached: number;
  readonly ratio: number;
} {
  const pairs = Array.from({ length: Math.floor(p99s.length / 2) }, (_, pair) => {
    const two = [2 * pair, 2 * pair + 1];
    const [reached, beside] = [true, false].map((kind) => p99s[two.find((window) => reachesHub(window) === kind)!]!);
    return { reached: reached!, beside: beside! };
  }).slice(warmUpPairs);
  return {
    beside: summarize(pairs.map(({ beside }) => beside)).median,
    reached: summarize(pairs.map(({ reached }) => reached)).median,
    ratio: summarize(pairs.map(({ reached, beside }) => reached / beside)).median,
  };
}
