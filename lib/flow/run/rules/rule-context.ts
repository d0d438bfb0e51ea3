// What a rule has to work with while it runs.

import type { SchedulerLike } from 'rxjs';
import type { Graph } from '../../../graph/graph.ts';
import type { Value } from '../../../model/value.ts';
import type { RulePlan } from '../../plan.ts';
import type { RuleSources } from './rule-sources.ts';
import type { RuleTrace, Traces } from './trace.ts';

/** Tells that a rule failed on one value, or as a whole; it goes on with the next, or starts again. */
export type ReportFault = (rule: RulePlan, message: string) => void;

/** Tells that a rule waits for something that is unknown; `isUnknown` tells whether it still is. */
export type ReportWaiting = (rule: RulePlan, message: string, isUnknown: () => boolean) => void;

/** What all rules of a hub share. */
export interface RuleRuntime {
  readonly graph: Graph;
  /** The clock of time-based steps and of restarts. */
  readonly scheduler: SchedulerLike;
  readonly traces: Traces;
  readonly reportFault: ReportFault;
  /** Tells that a step has dropped a value because it holds as many as it may. */
  readonly reportLimit: ReportFault;
  readonly reportWaiting: ReportWaiting;
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
