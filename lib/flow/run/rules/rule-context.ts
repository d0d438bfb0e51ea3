// The environment of a running rule.

import type { SchedulerLike } from 'rxjs';
import type { Graph } from '../../../graph/graph.ts';
import type { Value } from '../../../model/value.ts';
import type { RulePlan } from '../../plan.ts';
import type { RuleReports } from './rule-reports.ts';
import type { RuleSources } from './rule-sources.ts';
import type { RuleTrace, Traces } from './trace.ts';

/** The objects that all rules of a hub share, such as the graph and the clock. */
export interface RuleRuntime {
  readonly graph: Graph;
  /** The clock for steps that take time, and for restarts. */
  readonly scheduler: SchedulerLike;
  readonly traces: Traces;
  readonly reports: RuleReports;
}

/** Receives the values and faults of a rule. */
export interface RuleOutput {
  /** Writes a value to each destination. A refused write is a fault of the rule. */
  write(value: unknown): void;
  /** Writes a separate value to each destination, in the order of `to`; undefined means no write. */
  writeEach(values: readonly (Value | undefined)[]): void;
  /** Reports a fault. `destination` is the destination that refused a value, if any. */
  fail(error: unknown, destination?: string): void;
}

/** The objects that the body of a running rule needs: its plan, its sources, its output and its trace. */
export interface RuleContext {
  readonly plan: RulePlan;
  readonly runtime: RuleRuntime;
  readonly sources: RuleSources;
  readonly output: RuleOutput;
  readonly trace: RuleTrace;
}
