// The newest entries of the log.

import type * as model from '../../../model/reports/log-entry.ts';
import type { IsoTime } from '../../time.ts';

/** `GET /hub/log?after=7&level=warn` answers with `{"entries":[{"n":9,"time":"2026-…","level":"warn","message":"…"}],"next":9,"count":"…"}`. */
export interface LogPage {
  /** Oldest first. */
  readonly entries: readonly LogEntry[];
  /** What to ask for `after` next time. */
  readonly next: number;
  /**
   * Names the count of the numbers. A hub without a store counts anew with each start, and its count has another name then; with a
   * store it goes on, so that a client misses no entry over a restart.
   */
  readonly count: string;
}

export interface LogEntry extends Omit<model.LogEntry, 'time'> {
  readonly time: IsoTime;
}
