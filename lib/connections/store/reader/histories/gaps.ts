// When nothing was recorded. After the hub was down nothing is known until something is recorded; after any other gap that holds
// which was recorded before, unless there is something newer.

import type { HistoryGap } from '../../../../wire/http/past/history.ts';
import { downReason } from '../../history/tables.ts';

export class Gaps {
  readonly list: readonly HistoryGap[];

  /** Oldest first. */
  constructor(list: readonly HistoryGap[]) {
    this.list = list;
  }

  /** Those that overlap a range. */
  within(from: number, to: number): HistoryGap[] {
    return this.list.filter((gap) => gap.to > from && gap.from < to);
  }

  /** A time is moved out of the gap that it is in: to its end, or where that comes after `until`, to its beginning. */
  outOf(time: number, until: number): number {
    const gap = this.list.find(({ from, to }) => from <= time && time < to);
    return gap === undefined ? time : gap.to <= until ? gap.to : gap.from;
  }

  /** Whether the hub was down after a time, and before another one. */
  wasDown(since: number, until: number): boolean {
    return this.list.some((gap) => gap.from >= since && gap.from < until && isDown(gap));
  }
}

export function isDown({ reason }: HistoryGap): boolean {
  return reason === downReason;
}
