// What is asked of a history, and what comes of it.

import type { History } from '../../../wire/http/past.ts';
import type { Interval } from '../history/segments.ts';

/** Both ends are part of it. */
export interface HistoryRange extends Interval {
  /** How many points are wanted at most, beside the one that held at the start. */
  readonly points: number;
}

/** A history but for what is the same of all: whose it is, from when to when, and the gaps. */
export type Course = Omit<History, 'address' | 'type' | 'from' | 'to' | 'gaps'>;
