// What a rule did lately.

import type * as model from '../../../model/reports/rule-status.ts';
import type { Value } from '../../../model/value.ts';
import type { IsoTime } from '../../time.ts';

/** `GET /hub/trace?rule=<name>` answers with one of these for each rule of the name. */
export type RuleTraces = readonly RuleRuns[];

/** `{"rule":"lamp off","file":"demo.json5","isAlwaysRecorded":true,"runs":[…]}`, newest run first. */
export interface RuleRuns extends Omit<model.RuleRuns, 'runs'> {
  readonly runs: readonly RuleRun[];
}

/** `{"source":"desk/a","value":3,"revision":7,"time":"2026-…","outcome":"wrote","result":3.3,"to":["desk/b"],"durationUs":12}`. */
export interface RuleRun extends Omit<model.RuleRun, 'time' | 'result'> {
  readonly time: IsoTime;
  /** What was written, before its conversion to the types of the destinations; null: an infinite number, which JSON has not. */
  readonly result?: Value | null | undefined;
}
