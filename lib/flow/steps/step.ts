// What a step of `pipe` is: the schema of its setting, how the check prepares it, and what it becomes when its rule runs.

import type { OperatorFunction, SchedulerLike } from 'rxjs';
import type { z } from 'zod';
import type { Account } from '../../model/held-bytes.ts';
import type { Value, ValueType } from '../../model/value.ts';
import type { BoundExpression, RuleExpression } from '../rule-expression.ts';

export type Operator = OperatorFunction<Value, Value>;

/** A kind of step, such as `debounceTime`. */
export interface StepType {
  readonly summary: string;
  readonly setting: z.ZodType;
  /** Prepares a step from a setting that the schema has let through. Errors: `bad-flow`. */
  prepare(setting: unknown, context: StepContext): PreparedStep;
}

/** What a step knows while it is prepared. */
export interface StepContext {
  /** The type of what comes in, undefined when it is not known. */
  readonly type: ValueType | undefined;
  /** Compiles an expression over `value` and further names; `expects` 'B' for conditions. Errors: `bad-flow`. */
  compile(text: string, more?: Readonly<Record<string, ValueType | undefined>>, expects?: 'B'): RuleExpression;
  /** Prepares steps within the step; those with mistakes are missing, and are told. */
  prepare(items: readonly unknown[]): readonly PreparedStep[];
}

/** A step ready to run, and the type of what comes out of it. */
export interface PreparedStep {
  readonly type: ValueType | undefined;
  /** The expressions that it evaluates the moment that a value comes, set by the check; undefined: it takes time. */
  readonly reads?: readonly RuleExpression[] | undefined;
  create(runtime: StepRuntime): Operator;
}

/** What a step is given when its rule starts. */
export interface StepRuntime {
  readonly scheduler: SchedulerLike;
  /** The same clock for steps that hold each value by itself: what comes out later has the cause of what went in. */
  readonly causalScheduler: SchedulerLike;
  bind(expression: RuleExpression): BoundExpression;
  /** Reports that a value was dropped, because the step holds as many as it may. */
  overflow(message: string): void;
  /** What the changes take that have led to the value which is being passed on: who holds the value for later holds them as well. */
  causeBytes(): number;
  /** Opens an account of what the step holds; `letGo` drops all of it, since the hub holds too much. */
  open(letGo: () => void): Account;
}
