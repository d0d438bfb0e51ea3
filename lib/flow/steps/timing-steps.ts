// Steps that delay values. A step that holds each value separately is limited in the number and size of values.
import {
  auditTime,
  debounceTime,
  distinctUntilChanged,
  map,
  Observable,
  of,
  type SchedulerLike,
  Subscription,
  sampleTime,
  skip,
  skipWhile,
  startWith,
  switchMap,
  take,
  takeWhile,
  throttleTime,
  timer,
} from 'rxjs';
import { z } from 'zod';
import { groupDigits } from '../../model/digits.ts';
import { HubError } from '../../model/error.ts';
import type { Value } from '../../model/value.ts';
import { atLeast, conditional, define, durationMs, type NamedStep, ofNumbers, plain, scalar } from './define-step.ts';
import { holdingOne, letGoMessage, maxStepBytes, valueBytes } from './held-values.ts';
import type { Operator, StepRuntime } from './step.ts';

/**
 * The maximum number of values that a delay holds. Values that arrive while the delay is full are dropped, and the rule is shown as
 * limited.
 */
const maxDelayed = 10_000;
/** The size of the object that contains a waiting value, in bytes. */
const delayedBytes = 512;
const delayIsFull = `a delay holds ${groupDigits(maxDelayed)} values at most; the next one was dropped`;
const delayIsHeavy = `a delay holds ${maxStepBytes / 1024 / 1024} MB at most; the next one was dropped`;

export const timingSteps: readonly NamedStep[] = [
  newest('debounceTime', 'passes on the latest value once no other has arrived for this long', debounceTime),
  define(
    'throttleTime',
    'passes on a value, then none for this long; with { duration: 100, trailing: true }, also the latest of the dropped ones at the end',
    z.union([durationMs, z.strictObject({ duration: durationMs, trailing: z.boolean().default(false) })], {
      error: 'milliseconds, a duration such as "1m30s", or { duration: 100, trailing: true }',
    }),
    (setting, { type }) => {
      const { duration, trailing } = typeof setting === 'number' ? { duration: setting, trailing: false } : setting;
      return {
        type,
        create(runtime) {
          const operator = throttleTime<Value>(duration, runtime.scheduler, { leading: true, trailing });
          return trailing ? holdingOne(type, operator, runtime) : operator;
        },
      };
    },
  ),
  newest('auditTime', 'passes on the latest value, this long after the first', auditTime),
  newest('sampleTime', 'passes on the latest value at every interval of this length', sampleTime, atLeast(1)),
  define('delay', 'passes on each value after this time', durationMs, (ms, { type }) => ({
    type,
    create: (runtime) => boundedDelay(ms, runtime),
  })),
  late('onDelay', 'passes on true once it has lasted this long, and false immediately', true),
  late('offDelay', 'passes on true immediately, and false once it has lasted this long: a lamp stays on', false),
];

/**
 * Defines a step that delays one of the values true and false, and passes the other on immediately. A repeated value does not restart the
 * wait.
 */
function late(name: string, summary: string, lateValue: boolean): NamedStep {
  return define(name, summary, durationMs, (ms, { type }) => {
    if (type !== undefined && type !== 'B')
      throw new HubError(
        'bad-flow',
        `expected true or false, got ${typeNames[type]}: put { map: "value > 0" } before this step`,
      );
    return {
      type: 'B',
      create:
        ({ causalScheduler }) =>
        (source) =>
          source.pipe(
            map((value) => value === true),
            distinctUntilChanged(),
            switchMap((value) => (value === lateValue ? timer(ms, causalScheduler).pipe(map(() => value)) : of(value))),
          ),
    };
  });
}

const typeNames = { S: 'text', I: 'a number', F: 'a number', T: 'a trigger' } as const;

/** Defines a step that delays only the latest value. */
function newest(
  name: string,
  summary: string,
  create: (ms: number, scheduler: SchedulerLike) => Operator,
  setting: z.ZodType<number> = durationMs,
): NamedStep {
  return define(name, summary, setting, (ms, { type }) => ({
    type,
    create: (runtime) => holdingOne(type, create(ms, runtime.scheduler), runtime),
  }));
}

function boundedDelay(ms: number, { causalScheduler, overflow, open, causeBytes }: StepRuntime): Operator {
  return (source) =>
    new Observable((subscriber) => {
      let waiting = new Subscription();
      let count = 0;
      let isOver = false;
      const forget = () => {
        waiting.unsubscribe();
        waiting = new Subscription();
        count = 0;
        account.set(0);
        if (isOver) subscriber.complete();
      };
      const account = open(() => {
        forget();
        overflow(letGoMessage);
      });
      const hold = (value: Value, bytes: number) => {
        count++;
        const action = causalScheduler.schedule(() => {
          waiting.remove(action);
          count--;
          account.add(-bytes);
          subscriber.next(value);
          if (isOver && count === 0) subscriber.complete();
        }, ms);
        waiting.add(action);
        account.add(bytes);
      };
      const running = source.subscribe({
        next(value) {
          const bytes = delayedBytes + Math.max(valueBytes(value), causeBytes());
          if (count >= maxDelayed) overflow(delayIsFull);
          else if (account.bytes + bytes > maxStepBytes) overflow(delayIsHeavy);
          else hold(value, bytes);
        },
        error: (error) => subscriber.error(error),
        complete() {
          isOver = true;
          if (count === 0) subscriber.complete();
        },
      });
      return () => {
        running.unsubscribe();
        isOver = false;
        forget();
      };
    });
}

// Steps that pass on some values and drop others, without delay.

const count = z.int({ error: 'an integer of at least 0' }).min(0, { error: 'an integer of at least 0' });
const yes = z.literal(true, { error: 'true' });

export const passingSteps: readonly NamedStep[] = [
  plain('distinctUntilChanged', 'drops a value that equals the previous one', yes, () => distinctUntilChanged()),
  plain('startWith', 'emits this value first when the rule starts', scalar, (value) => startWith(value)),
  plain('skip', 'drops this many values at the start', count, (number) => skip(number)),
  plain('take', 'passes on this many values, then none', count, (number) => take(number)),
  conditional('skipWhile', 'drops values until the condition is false', (condition) => skipWhile(condition)),
  conditional('takeWhile', 'passes on values until the condition is false', (condition) => takeWhile(condition)),
  ofNumbers(
    'deadband',
    'drops values that differ by less than this from the last one passed on',
    z.number({ error: 'a number' }).min(0, { error: 'a number of at least 0' }),
    (band) => distinctUntilChanged((last, value) => Math.abs(Number(value) - Number(last)) < band),
  ),
];
