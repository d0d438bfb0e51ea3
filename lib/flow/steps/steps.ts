// The steps of `pipe`: RxJS operators under their own names, and a few of the trade. One table holds all of them, each with
// the schema of its setting, what it does, and how it is made from a setting that is right.

import * as rx from 'rxjs';
import { z } from 'zod';
import { readDurationMs } from '../../model/duration.ts';
import { messageOf } from '../../model/error.ts';
import { toText, type Value, type ValueType } from '../../model/value.ts';
import type { BoundExpression, RuleExpression } from '../rule-expression.ts';

type Operator = rx.OperatorFunction<Value, Value>;

export interface StepContext {
  /** The type of what comes in, undefined when it is not known. */
  readonly type: ValueType | undefined;
  /** Compiles an expression over `value` and further names; `expects` 'B' for conditions. Errors: `bad-flow`. */
  compile(text: string, more?: Readonly<Record<string, ValueType | undefined>>, expects?: 'B'): RuleExpression;
}

export interface StepRuntime {
  readonly scheduler: rx.SchedulerLike;
  /** The same clock for steps that hold each value by itself: what comes out later has the cause of what went in. */
  readonly causalScheduler: rx.SchedulerLike;
  bind(expression: RuleExpression): BoundExpression;
  /** Tells that a value was dropped, because the step holds as many as it may. */
  overflow(message: string): void;
}

/** A step ready to run, and the type of what comes out of it. */
export interface PreparedStep {
  readonly type: ValueType | undefined;
  create(runtime: StepRuntime): Operator;
}

export interface StepType {
  readonly summary: string;
  readonly setting: z.ZodType;
  /** Prepares a step from a setting that the schema has let through. Errors: `bad-flow`. */
  prepare(setting: unknown, context: StepContext): PreparedStep;
}

const durationMs = z
  .union([z.number(), z.string()], { error: 'milliseconds or a duration such as "1m30s"' })
  .transform((input, context) => {
    try {
      return readDurationMs(input);
    } catch (error) {
      context.addIssue({ code: 'custom', message: messageOf(error) });
      return z.NEVER;
    }
  });
const expression = z.string({ error: 'an expression in text' });
const count = z.int({ error: 'integer from 0' }).min(0, { error: 'integer from 0' });
const scalar = z.union([z.string(), z.number(), z.boolean()], { error: 'a text, number or boolean' });
const range = z.tuple([z.number(), z.number()], { error: 'a pair of numbers' });
const yes = z.literal(true, { error: 'true' });

/** Every step by name, in the order of the documentation. */
export const stepTypes: ReadonlyMap<string, StepType> = new Map([
  define('filter', 'lets a value through when the condition is true', expression, (text, { type, compile }) => {
    const condition = compile(text, {}, 'B');
    return { type, create: ({ bind }) => rx.filter(test(bind(condition))) };
  }),
  define('map', 'computes a new value', expression, (text, { compile }) => {
    const compute = compile(text);
    return { type: compute.type, create: ({ bind }) => computeEach(bind(compute)) };
  }),
  define('pairwise', 'computes from `previous` and `value`, from the second value on', expression, (text, context) => {
    const compute = context.compile(text, { previous: context.type });
    return {
      type: compute.type,
      create: ({ bind }) => {
        const evaluate = bind(compute);
        return (source) =>
          source.pipe(
            rx.pairwise(),
            rx.mergeMap(([previous, value]) => known(evaluate({ previous, value }))),
          );
      },
    };
  }),
  define(
    'scan',
    'computes from `sum`, its own last result, and `value`',
    z.strictObject({ seed: scalar, expression }),
    ({ seed, expression: text }, { compile }) => {
      const type = typeOfScalar(seed);
      const compute = compile(text, { sum: type });
      return {
        type: compute.type,
        create: ({ bind }) => {
          const evaluate = bind(compute);
          return rx.scan<Value, Value, Value>((sum, value) => evaluate({ sum, value }) ?? sum, seed);
        },
      };
    },
  ),
  timed('debounceTime', 'passes the newest value on when none has come for this long', rx.debounceTime),
  define(
    'throttleTime',
    'passes a value on, then none for this long; with { duration: 100, trailing: true } the newest of these in the end',
    z.union([durationMs, z.strictObject({ duration: durationMs, trailing: z.boolean().default(false) })], {
      error: 'milliseconds, a duration such as "1m30s", or { duration: 100, trailing: true }',
    }),
    (setting, { type }) => {
      const { duration, trailing } = typeof setting === 'number' ? { duration: setting, trailing: false } : setting;
      return {
        type,
        create: ({ scheduler }) => rx.throttleTime(duration, scheduler, { leading: true, trailing }),
      };
    },
  ),
  timed('auditTime', 'passes the newest value on, this long after the first', rx.auditTime),
  timed('sampleTime', 'passes the newest value on at every interval of this length', rx.sampleTime),
  define('delay', 'passes each value on this much later', durationMs, (ms, { type }) => ({
    type,
    create: (runtime) => boundedDelay(ms, runtime),
  })),
  plain('distinctUntilChanged', 'drops a value that is equal to the one before', yes, () => rx.distinctUntilChanged()),
  plain('startWith', 'begins with this value when the rule starts', scalar, (value) => rx.startWith(value)),
  plain('skip', 'drops the first values', count, (number) => rx.skip(number)),
  plain('take', 'passes the first values on, then none', count, (number) => rx.take(number)),
  conditional('skipWhile', 'drops values until the condition is false', (condition) => rx.skipWhile(condition)),
  conditional('takeWhile', 'passes values on until the condition is false', (condition) => rx.takeWhile(condition)),
  plain(
    'deadband',
    'drops values that differ from the last one passed on by less than this',
    z.number({ error: 'a number' }).min(0, { error: 'a number from 0' }),
    (band) => rx.distinctUntilChanged((last, value) => Math.abs(Number(value) - Number(last)) < band),
  ),
  plain(
    'scale',
    'maps one range of numbers to another: { from: [0, 1], to: [0, 100] }',
    z.strictObject({
      from: range.refine(([low, high]) => low !== high, { error: 'expected two different numbers' }),
      to: range,
    }),
    ({ from: [low, high], to: [first, last] }) =>
      rx.map((value) => first + ((Number(value) - low) / (high - low)) * (last - first)),
    'F',
  ),
  plain(
    'clamp',
    'keeps numbers within bounds: [0, 100]',
    range,
    ([low, high]) => rx.map((value) => Math.min(high, Math.max(low, Number(value)))),
    'F',
  ),
  define(
    'lookup',
    'replaces values by those of a table: { table: { "1": "on" }, otherwise: "off" }; without otherwise others are dropped',
    z.strictObject({ table: z.record(z.string(), scalar), otherwise: scalar.optional() }),
    ({ table, otherwise }) => {
      const entries = new Map(Object.entries(table));
      const results = [...entries.values(), ...(otherwise === undefined ? [] : [otherwise])].map(typeOfScalar);
      return {
        type: new Set(results).size === 1 ? results[0] : undefined,
        create: () => rx.mergeMap((value) => known(entries.get(toText(value)) ?? otherwise)),
      };
    },
  ),
]);

/** A delay holds at most this many values; what comes while it is full is dropped, and told. */
export const maxDelayed = 10_000;
const delayIsFull = `a delay holds ${maxDelayed.toLocaleString('en')} values at most, the next was dropped`;

function boundedDelay(ms: number, { causalScheduler, overflow }: StepRuntime): Operator {
  return (source) =>
    rx.defer(() => {
      let waiting = 0;
      return source.pipe(
        rx.filter(() => {
          if (waiting >= maxDelayed) overflow(delayIsFull);
          return waiting < maxDelayed;
        }),
        rx.tap(() => waiting++),
        rx.delay(ms, causalScheduler),
        rx.tap(() => waiting--),
      );
    });
}

function define<Schema extends z.ZodType>(
  name: string,
  summary: string,
  setting: Schema,
  prepare: (setting: z.output<Schema>, context: StepContext) => PreparedStep,
): [string, StepType] {
  return [name, { summary, setting, prepare: prepare as StepType['prepare'] }];
}

function plain<Schema extends z.ZodType>(
  name: string,
  summary: string,
  setting: Schema,
  create: (setting: z.output<Schema>) => Operator,
  result?: ValueType,
): [string, StepType] {
  return define(name, summary, setting, (value, { type }) => ({ type: result ?? type, create: () => create(value) }));
}

function timed(
  name: string,
  summary: string,
  create: (ms: number, scheduler: rx.SchedulerLike) => Operator,
): [string, StepType] {
  return define(name, summary, durationMs, (ms, { type }) => ({
    type,
    create: ({ scheduler }) => create(ms, scheduler),
  }));
}

function conditional(
  name: string,
  summary: string,
  create: (condition: (value: Value) => boolean) => Operator,
): [string, StepType] {
  return define(name, summary, expression, (text, { type, compile }) => {
    const condition = compile(text, {}, 'B');
    return { type, create: ({ bind }) => create(test(bind(condition))) };
  });
}

function test(evaluate: BoundExpression): (value: Value) => boolean {
  return (value) => evaluate({ value }) === true;
}

function computeEach(evaluate: BoundExpression): Operator {
  return rx.mergeMap((value) => known(evaluate({ value })));
}

function known(value: Value | undefined): rx.Observable<Value> {
  return value === undefined ? rx.EMPTY : rx.of(value);
}

function typeOfScalar(value: Value): ValueType {
  if (typeof value === 'string') return 'S';
  return typeof value === 'boolean' ? 'B' : 'F';
}
