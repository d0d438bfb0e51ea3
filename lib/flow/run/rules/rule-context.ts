// What a rule has to work with while it runs.

import type { SchedulerLike } from 'rxjs';
import type { Graph } from '../../../graph/graph.ts';
import type { Value } from '../../../model/value.ts';
import type { RulePlan } from '../../plan.ts';
import type { RuleReports } from './rule-reports.ts';
import type { RuleSources } from './rule-sources.ts';
import type { RuleTrace, Traces } from './trace.ts';

/** What all rules of a hub share. */
export interface RuleRuntime {
  readonly graph: Graph;
  /** The clock of time-based steps and of restarts. */
  readonly scheduler: SchedulerLike;
  readonly traces: Traces;
  readonly reports: RuleReports;
}

/** Where the values of a rule go, and its faults. */
export interface RuleOutput {
  /** Writes a value to each destination; one that refuses it is a fault of the rule. */
  write(value: unknown): void;
  /** Writes one value to each destination, in the order of `to`; undefined: nothing. */
  writeEach(values: readonly (Value | undefined)[]): void;
  /** Reports a fault. With a destination it is the one that refused a value. */
  fail(error: unknown, destination?: string): void;
}

/** What the body of one rule has. */
export interface RuleContext {
  readonly plan: RulePlan;
  readonly runtime: RuleRuntime;
  readonly sources: RuleSources;
  readonly output: RuleOutput;
  readonly trace: RuleTrace;
}
