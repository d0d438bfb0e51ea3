// Steps that compute a result from several values: the values of a period, or the latest values.
import { defer, finalize, map, Observable, type SchedulerLike, Subscription, scan } from 'rxjs';
import { z } from 'zod';
import { groupDigits } from '../../model/digits.ts';
import type { Account } from '../../model/held-bytes.ts';
import type { Value } from '../../model/value.ts';
import { atLeast, define, type NamedStep, ofNumbers } from './define-step.ts';
import { letGoMessage } from './held-values.ts';
import type { Operator, StepRuntime } from './step.ts';

// The numbers in a sliding window, with their minimum, maximum, mean and count. The cost of adding a number does not depend on the size of
// the window.

interface Item {
  readonly number: number;
  readonly timeMs: number;
}

class SlidingWindow {
  #items: Item[] = [];
  /** The index of the oldest item in the window. Items before this index have left the window. */
  #first = 0;
  #sum = 0;
  /** The number of items that have left since the sum was last recomputed. The sum is recomputed because rounding errors accumulate. */
  #leftSinceSum = 0;
  /** The items that are less than every later item, oldest first. The first of these items is the minimum. */
  #least: Item[] = [];
  /** The items that are greater than every later item, oldest first. The first of these items is the maximum. */
  #greatest: Item[] = [];

  get count(): number {
    return this.#items.length - this.#first;
  }

  get oldestMs(): number {
    return this.#items[this.#first]!.timeMs;
  }

  get least(): number {
    return this.#least[0]!.number;
  }

  get greatest(): number {
    return this.#greatest[0]!.number;
  }

  get mean(): number {
    return this.#sum / this.count;
  }

  add(number: number, timeMs: number): void {
    const item = { number, timeMs };
    this.#items.push(item);
    this.#sum += number;
    while (this.#least.length > 0 && this.#least.at(-1)!.number >= number) this.#least.pop();
    this.#least.push(item);
    while (this.#greatest.length > 0 && this.#greatest.at(-1)!.number <= number) this.#greatest.pop();
    this.#greatest.push(item);
  }

  /** Removes the oldest number from the window. */
  drop(): void {
    const item = this.#items[this.#first++]!;
    if (this.#least[0] === item) this.#least.shift();
    if (this.#greatest[0] === item) this.#greatest.shift();
    this.#sum -= item.number;
    if (++this.#leftSinceSum >= this.count) this.#tidy();
  }

  clear(): void {
    this.#items = [];
    this.#least = [];
    this.#greatest = [];
    this.#first = this.#sum = this.#leftSinceSum = 0;
  }

  #tidy(): void {
    this.#items = this.#items.slice(this.#first);
    this.#first = 0;
    this.#leftSinceSum = 0;
    this.#sum = this.#items.reduce((sum, { number }) => sum + number, 0);
  }
}

/** The maximum number of values in a window. If more values arrive, the oldest value leaves too early and the rule is shown as limited. */
const maxInWindow = 10_000;
const isFull = (step: string) =>
  `a ${step} holds ${groupDigits(maxInWindow)} values at most; the oldest one was dropped`;
/** The size of a value in a window, in bytes. */
const itemBytes = 64;
/** The number of values whose bytes are counted at a time. */
const countedTogether = 64;
const windowForm = "{ of: 'max', over: '10s' } or { of: 'mean', count: 5 }";
const countForm = `an integer 1..${maxInWindow}`;

const results = {
  min: (window: SlidingWindow) => window.least,
  max: (window: SlidingWindow) => window.greatest,
  mean: (window: SlidingWindow) => Number(window.mean.toPrecision(12)), // 0.1 instead of 0.09999999999999999
};

export const windowSteps: readonly NamedStep[] = [
  ofNumbers(
    'window',
    'computes the min, max or mean of the values of a period, or of the last values: { of: "max", over: "10s" }, { of: "mean", count: 5 }',
    z
      .strictObject(
        {
          of: z.enum(['min', 'max', 'mean'], { error: 'min, max or mean' }),
          over: atLeast(1).optional(),
          count: z
            .int({ error: countForm })
            .min(1, { error: countForm })
            .max(maxInWindow, { error: countForm })
            .optional(),
        },
        { error: windowForm },
      )
      .refine(({ over, count }) => (over === undefined) !== (count === undefined), {
        error: `expected either \`over\` or \`count\`: ${windowForm}`,
      })
      .meta({ oneOf: [{ required: ['over'] }, { required: ['count'] }] }),
    ({ of, over, count }, runtime) =>
      over === undefined ? lastOnes(count!, results[of], runtime) : windowOf('window', over, 1, results[of], runtime),
  ),
  define(
    'count',
    'counts values; with a duration such as "10s", those within this period',
    z.union([z.literal(true), atLeast(1)], { error: 'true or a duration such as "10s"' }),
    (over) => ({
      type: 'I',
      create: (runtime) =>
        over === true
          ? scan((sum) => Number(sum) + 1, 0 as Value)
          : windowOf('count', over, 0, ({ count }) => count, runtime),
    }),
  ),
  ofNumbers(
    'rate',
    'computes the rate of change per this time, from the value and the previous one',
    atLeast(1),
    (perMs, { scheduler }) => rateOf(perMs, scheduler),
  ),
];

function lastOnes(count: number, result: (window: SlidingWindow) => number, runtime: StepRuntime): Operator {
  return (source) =>
    defer(() => {
      const window = new HeldWindow(runtime);
      return source.pipe(
        map((value) => {
          window.add(Number(value), 0);
          if (window.count > count) window.drop();
          return result(window);
        }),
        finalize(() => window.clear()),
      );
    });
}

/** A window that counts its bytes, in batches of values. */
class HeldWindow extends SlidingWindow {
  readonly #account: Account;

  constructor({ open, overflow }: StepRuntime) {
    super();
    this.#account = open(() => {
      this.clear();
      overflow(letGoMessage);
    });
  }

  override add(number: number, timeMs: number): void {
    super.add(number, timeMs);
    if (this.count % countedTogether === 0) this.#account.set(this.count * itemBytes);
  }

  override clear(): void {
    super.clear();
    this.#account.set(0);
  }
}

/** Emits the result for each value, and again when values become too old. At least `least` values stay in the window. */
function windowOf(
  step: string,
  overMs: number,
  least: number,
  result: (window: SlidingWindow) => number,
  runtime: StepRuntime,
): Operator {
  const { scheduler, overflow } = runtime;
  return (source) =>
    new Observable((subscriber) => {
      const window = new HeldWindow(runtime);
      let emitted: number | undefined;
      let leaving = Subscription.EMPTY;
      const dropOld = () => {
        while (window.count > least && window.oldestMs + overMs <= scheduler.now()) window.drop();
      };
      const wait = () => {
        leaving.unsubscribe();
        if (window.count > least)
          leaving = scheduler.schedule(leave, Math.max(0, Math.ceil(window.oldestMs + overMs - scheduler.now())));
      };
      const leave = () => {
        dropOld();
        wait();
        const present = result(window);
        if (present === emitted) return;
        emitted = present;
        subscriber.next(present);
      };
      const running = source.subscribe({
        next(value) {
          window.add(Number(value), scheduler.now());
          if (window.count > maxInWindow) {
            overflow(isFull(step));
            window.drop();
          }
          dropOld();
          wait();
          emitted = result(window);
          subscriber.next(emitted);
        },
        error: (error) => subscriber.error(error),
      });
      return () => {
        running.unsubscribe();
        leaving.unsubscribe();
        window.clear();
      };
    });
}

/**
 * Emits the rate of change in units per `perMs` milliseconds, but nothing for the first value. Values at the same moment are compared with
 * the last value from an earlier moment.
 */
function rateOf(perMs: number, scheduler: SchedulerLike): Operator {
  return (source) =>
    new Observable((subscriber) => {
      let base: { number: number; timeMs: number } | undefined;
      let last: typeof base;
      return source.subscribe({
        next(value) {
          const timeMs = scheduler.now();
          const number = Number(value);
          if (last !== undefined && last.timeMs < timeMs) base = last;
          last = { number, timeMs };
          if (base !== undefined) subscriber.next(((number - base.number) / (timeMs - base.timeMs)) * perMs);
        },
        error: (error) => subscriber.error(error),
        complete: () => subscriber.complete(),
      });
    });
}
