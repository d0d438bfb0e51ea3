// The definition of a step in `pipe`: the schema for its setting, its preparation by the check, and its form in a running rule.

import type { OperatorFunction, SchedulerLike } from 'rxjs';
import type { z } from 'zod';
import type { Account } from '../../model/held-bytes.ts';
import type { Value, ValueType } from '../../model/value.ts';
import type { BoundExpression, RuleExpression } from '../rule-expression.ts';

export type Operator = OperatorFunction<Value, Value>;

/** A kind of step, such as `debounceTime`, with its documentation. */
export interface StepType {
  readonly summary: string;
  readonly setting: z.ZodType;
  /** Prepares a step, given a setting that matches the schema. Errors: `bad-flow`. */
  prepare(setting: unknown, context: StepContext): PreparedStep;
}

/** The context in which the check prepares a step. */
export interface StepContext {
  /** The type of the values that enter the step; undefined if the type is not known. */
  readonly type: ValueType | undefined;
  /** Compiles an expression that may read `value` and the names in `more`. `expects` is 'B' for conditions. Errors: `bad-flow`. */
  compile(text: string, more?: Readonly<Record<string, ValueType | undefined>>, expects?: 'B'): RuleExpression;
  /** Prepares the steps within the step. Steps with errors are reported and omitted. */
  prepare(items: readonly unknown[]): readonly PreparedStep[];
}

/** A step that is ready to run, with the type of the values that it emits. */
export interface PreparedStep {
  readonly type: ValueType | undefined;
  /** The expressions that the step evaluates as soon as a value arrives, set by the check. Undefined if the step takes time. */
  readonly reads?: readonly RuleExpression[] | undefined;
  create(runtime: StepRuntime): Operator;
}

/** What a step needs when its rule starts: the clock, and functions that report and account for held values. */
export interface StepRuntime {
  readonly scheduler: SchedulerLike;
  /** A clock for steps that hold each value separately: a delayed value keeps the cause with which it arrived. */
  readonly causalScheduler: SchedulerLike;
  bind(expression: RuleExpression): BoundExpression;
  /** Reports that a value was dropped because the step is full. */
  overflow(message: string): void;
  /**
   * Returns the size of the changes that led to the current value, in bytes, because a step that holds the value also holds these changes.
   */
  causeBytes(): number;
  /** Opens an account for the bytes that the step holds. `letGo` is called to drop all held values when the hub holds too much data. */
  open(letGo: () => void): Account;
}
