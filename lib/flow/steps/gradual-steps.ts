// Steps that keep emitting between the arrivals of values, on a time grid.
import { concat, NEVER, Observable, of, type SchedulerLike, Subscription, switchMap } from 'rxjs';
import { z } from 'zod';
import { groupDigits } from '../../model/digits.ts';
import type { Value } from '../../model/value.ts';
import { atLeast, define, type NamedStep, ofNumbers, stepList } from './define-step.ts';
import { holdingOne } from './held-values.ts';
import type { Operator } from './step.ts';

/** The shortest interval of a grid, in milliseconds. */
const shortestMs = 10;
/** The maximum number of grid intervals in one period. */
const mostInGrid = 1000;

const averageForm = '"10s" or { over: "10s", every: "1s" }';
const rampForm = '"2s" or { over: "2s", every: "50ms" }';

export const gradualSteps: readonly NamedStep[] = [
  ofNumbers(
    'average',
    'computes the mean over a period, weighted by how long each value lasted: "10s", emitted ten times per period, or { over: "10s", every: "1s" }',
    overEvery(averageForm, (over) => Math.max(shortestMs, over / 10)),
    (setting, { scheduler }) => averageOf(setting, scheduler),
  ),
  ofNumbers(
    'ramp',
    'moves to each value in even steps: "2s", a step every 50 ms, or { over: "2s", every: "50ms" }; it reaches the value with the first step at or after that time',
    overEvery(rampForm, (over) => Math.max(50, over / mostInGrid)),
    (setting, { scheduler }) => rampOf(setting, scheduler),
  ),
  define(
    'repeat',
    'passes on a value, and again at every interval of this length, until another value arrives',
    atLeast(shortestMs),
    (ms, { type }) => ({
      type,
      create: (runtime) =>
        holdingOne(
          type,
          switchMap((value) => repeated(value, ms, runtime.scheduler)),
          runtime,
          true,
        ),
    }),
  ),
  define(
    'switchMap',
    'restarts a list of steps with each value; values that the steps still hold are dropped',
    stepList,
    (items, { type, prepare }) => {
      const steps = prepare(items);
      return {
        type: steps.length === 0 ? type : steps.at(-1)!.type,
        create: (runtime) =>
          switchMap((value) => {
            const alone$ = concat(of(value), NEVER); // `debounceTime` emits its value immediately when its source completes
            return steps.reduce((stream$, step) => stream$.pipe(step.create(runtime)), alone$);
          }),
      };
    },
  ),
];

interface OverEvery {
  readonly over: number;
  readonly every: number;
}

/** Returns the schema for a setting that is either a duration, or a duration with an interval that replaces the default interval. */
function overEvery(form: string, usual: (over: number) => number) {
  return z
    .union(
      [atLeast(shortestMs), z.strictObject({ over: atLeast(shortestMs), every: atLeast(shortestMs).optional() })],
      {
        error: form,
      },
    )
    .transform((setting): OverEvery => {
      const { over, every } = typeof setting === 'number' ? { over: setting, every: undefined } : setting;
      return { over, every: every ?? Math.min(over, usual(over)) };
    })
    .refine(({ over, every }) => every <= over && over <= every * mostInGrid, {
      error: `expected \`over\` to be at least as long as \`every\`, and at most ${groupDigits(mostInGrid)} times as long`,
    });
}

/** Runs work at each tick of a time grid until the work returns false. Missed ticks are not made up for. */
function onGrid(everyMs: number, scheduler: SchedulerLike, work: (elapsedMs: number) => boolean): Subscription {
  const startMs = scheduler.now();
  const running = new Subscription();
  let waiting = Subscription.EMPTY;
  const wait = () => {
    const elapsedMs = scheduler.now() - startMs;
    const dueMs = (Math.floor(elapsedMs / everyMs) + 1) * everyMs;
    waiting = scheduler.schedule(tick, Math.ceil(dueMs - elapsedMs));
  };
  const tick = () => {
    if (work(scheduler.now() - startMs) && !running.closed) wait();
  };
  running.add(() => waiting.unsubscribe());
  wait();
  return running;
}

function repeated(value: Value, everyMs: number, scheduler: SchedulerLike): Observable<Value> {
  return new Observable((subscriber) => {
    const ticks = onGrid(everyMs, scheduler, () => {
      subscriber.next(value);
      return true;
    });
    subscriber.next(value);
    return ticks;
  });
}

/** Ramps from the current number to each new number, on the grid. The first value is emitted immediately. */
function rampOf({ over, every }: OverEvery, scheduler: SchedulerLike): Operator {
  let present: number | undefined;
  const rampTo = (target: number) =>
    new Observable<Value>((subscriber) => {
      const start = present;
      const go = (number: number) => {
        present = number;
        subscriber.next(number);
      };
      if (start === undefined || !Number.isFinite(target)) return go(target);
      if (start === target) return undefined;
      return onGrid(every, scheduler, (elapsedMs) => {
        const isThere = elapsedMs >= over;
        go(isThere ? target : start + (target - start) * (elapsedMs / over));
        return !isThere;
      });
    });
  return switchMap((value) => rampTo(Number(value)));
}

/** Emits the first value immediately, and then the mean on the grid until the mean has permanently reached the value. */
function averageOf({ over, every }: OverEvery, scheduler: SchedulerLike): Operator {
  return (source) =>
    new Observable((subscriber) => {
      const mean = createMean(Math.round(over / every), every);
      let ticks: Subscription | undefined;
      let emitted: number | undefined;
      const emit = (number: number) => {
        if (number === emitted) return;
        emitted = number;
        subscriber.next(number);
      };
      const running = source.subscribe({
        next(value) {
          mean.put(Number(value), scheduler.now());
          if (emitted === undefined) emit(Number(value));
          if (ticks !== undefined) return;
          ticks = onGrid(every, scheduler, () => {
            const { number, isSettled } = mean.take(scheduler.now());
            if (isSettled) ticks = undefined;
            emit(number);
            return !isSettled;
          });
        },
        error: (error) => subscriber.error(error),
      });
      return () => {
        running.unsubscribe();
        ticks?.unsubscribe();
      };
    });
}

// The mean of a number over the last parts of a period, weighted by how long the number had each value. One sum is stored per part, no
// matter how often the number changes.

interface MeanOverTime {
  put(number: number, nowMs: number): void;
  /**
   * Ends the current part and returns the mean of the last parts. `isSettled` states whether the number was the same in all of these parts.
   */
  take(nowMs: number): { readonly number: number; readonly isSettled: boolean };
}

interface Part {
  /** The integral of the number over the part: the number multiplied by milliseconds. */
  readonly area: number;
  readonly ms: number;
}

function createMean(most: number, partMs: number): MeanOverTime {
  let parts: Part[] = [];
  let present: number | undefined;
  let sinceMs = 0;
  let area = 0;
  let ms = 0;
  /** The number of parts that have ended since the number last changed. */
  let quiet = Infinity;
  const pass = (nowMs: number) => {
    area += (present ?? 0) * (nowMs - sinceMs);
    ms += nowMs - sinceMs;
    sinceMs = nowMs;
  };
  return {
    put(number, nowMs) {
      if (quiet > most && present !== undefined) {
        parts = Array.from({ length: most }, () => ({ area: present! * partMs, ms: partMs }));
        sinceMs = nowMs;
      } else if (present === undefined) sinceMs = nowMs;
      else pass(nowMs);
      present = number;
      quiet = 0;
    },
    take(nowMs) {
      pass(nowMs);
      parts.push({ area, ms });
      if (parts.length > most) parts.shift();
      [area, ms] = [0, 0];
      const isSettled = ++quiet > most;
      if (isSettled) return { number: present!, isSettled };
      const sum = parts.reduce((all, part) => ({ area: all.area + part.area, ms: all.ms + part.ms }));
      return { number: Number((sum.area / sum.ms).toPrecision(12)), isSettled };
    },
  };
}
