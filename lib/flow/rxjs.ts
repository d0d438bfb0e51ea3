// The module that TypeScript flows receive when they import `rxjs`. Operators that hold back values, or emit streams created from values,
// differ from the RxJS operators in one respect: a value that is emitted later keeps the change with which the value arrived as its cause.
import * as rxjs from 'rxjs';
import { longestDurationMs } from '../model/time/duration.ts';
import {
  type KeptCause,
  keepCause,
  steadyTime,
  streamScheduler,
  timeOfDay,
} from './run/rules/streams/stream-causes.ts';

export * from 'rxjs';

interface Kept<T> {
  readonly value: T;
  readonly cause: KeptCause;
}

type Project = (value: unknown, index: number) => rxjs.ObservableInput<unknown>;

/** A subscriber that forwards values with its own logic. It ends with its listener, even during synchronous emissions. */
class Forwarding<T> extends rxjs.Subscriber<T> {
  readonly #forward: (value: T) => void;

  constructor(listener: rxjs.Subscriber<unknown>, forward: (value: T) => void) {
    super(listener);
    this.#forward = forward;
  }

  protected override _next(value: T): void {
    this.#forward(value);
  }
}

/**
 * Returns an operator like the given operator, which forwards values later, except that each value keeps as its cause the change with which
 * the value arrived.
 */
function withCauses(operator: rxjs.OperatorFunction<Kept<unknown>, Kept<unknown>>) {
  return (source: rxjs.Observable<unknown>) =>
    new rxjs.Observable((subscriber) => {
      const forward = ({ value, cause }: Kept<unknown>) => cause.run(() => subscriber.next(value));
      return source.pipe(rxjs.map(keep), operator).subscribe(new Forwarding(subscriber, forward));
    });
}

/** Returns a selector that receives the plain values instead of the values with their causes. */
function ofValues<T>(select: (value: unknown) => T): (kept: Kept<unknown>) => T {
  return ({ value }) => select(value);
}

/**
 * Returns an operator that behaves like the given operator, which creates a stream from each value, but runs each stream with the cause of
 * its value.
 */
function withInnerCauses(
  operator: (project: Project, ...others: unknown[]) => rxjs.OperatorFunction<unknown, unknown>,
) {
  return (project: Project, ...others: unknown[]) => {
    if (typeof others[0] === 'function') return operator(project, ...others); // an old RxJS signature, with a result selector
    const projectKept = (value: unknown, index: number) => inner(value as Kept<unknown>, index, project);
    return (source: rxjs.Observable<unknown>) => source.pipe(rxjs.map(keep), operator(projectKept, ...others));
  };
}

function inner({ value, cause }: Kept<unknown>, index: number, project: Project): rxjs.Observable<unknown> {
  return new rxjs.Observable((subscriber) => {
    const forward = (made: unknown) => cause.runUnlessKnown(() => subscriber.next(made));
    cause.run(() => rxjs.from(project(value, index)).subscribe(new Forwarding(subscriber, forward)));
  });
}

function keep<T>(value: T): Kept<T> {
  return { value, cause: keepCause() };
}

export const auditTime = ((durationMs: number, scheduler: rxjs.SchedulerLike = streamScheduler) =>
  withCauses(rxjs.auditTime(durationMs, scheduler))) as typeof rxjs.auditTime;
export const sampleTime = ((periodMs: number, scheduler: rxjs.SchedulerLike = streamScheduler) =>
  withCauses(rxjs.sampleTime(periodMs, scheduler))) as typeof rxjs.sampleTime;
export const throttleTime = ((
  durationMs: number,
  scheduler: rxjs.SchedulerLike = streamScheduler,
  config?: rxjs.ThrottleConfig,
) => withCauses(rxjs.throttleTime(durationMs, scheduler, config))) as typeof rxjs.throttleTime;
export const sample = ((notifier: rxjs.ObservableInput<unknown>) =>
  withCauses(rxjs.sample(notifier))) as typeof rxjs.sample;
export const audit = ((select: Parameters<typeof rxjs.audit>[0]) =>
  withCauses(rxjs.audit(ofValues(select)))) as typeof rxjs.audit;
export const throttle = ((select: Parameters<typeof rxjs.throttle>[0], config?: rxjs.ThrottleConfig) =>
  withCauses(rxjs.throttle(ofValues(select), config))) as typeof rxjs.throttle;
export const concatMap = withInnerCauses(rxjs.concatMap as never) as typeof rxjs.concatMap;
export const mergeMap = withInnerCauses(rxjs.mergeMap as never) as typeof rxjs.mergeMap;
export const switchMap = withInnerCauses(rxjs.switchMap as never) as typeof rxjs.switchMap;
export const exhaustMap = withInnerCauses(rxjs.exhaustMap as never) as typeof rxjs.exhaustMap;

// The parts of RxJS that take time. These parts use the hub's scheduler instead of the machine's clock, so setting that clock affects no
// wait in a TypeScript flow. A date is a time of day: the wait until then is computed when the wait begins.

type Scheduler = rxjs.SchedulerLike;

/**
 * Makes an RxJS scheduler use the hub's time. RxJS schedulers read the machine's clock and use its timers, so nothing would arrive in a
 * test.
 */
function steady(scheduler: Scheduler): Scheduler {
  return {
    now: steadyTime.now,
    schedule<State>(work: (this: rxjs.SchedulerAction<State>, state?: State) => void, delayMs = 0, state?: State) {
      return (delayMs > 0 ? streamScheduler : scheduler).schedule(work, delayMs, state);
    },
  };
}

export const asyncScheduler = streamScheduler as typeof rxjs.asyncScheduler;
export const async = asyncScheduler;
export const asapScheduler = steady(rxjs.asapScheduler) as typeof rxjs.asapScheduler;
export const asap = asapScheduler;
export const queueScheduler = steady(rxjs.queueScheduler) as typeof rxjs.queueScheduler;
export const queue = queueScheduler;
export const animationFrameScheduler = steady(rxjs.animationFrameScheduler) as typeof rxjs.animationFrameScheduler;
export const animationFrame = animationFrameScheduler;

export const interval = ((periodMs = 0, scheduler: Scheduler = streamScheduler) =>
  rxjs.interval(periodMs, scheduler)) as typeof rxjs.interval;

export const timer = ((due: number | Date = 0, ...others: (number | Scheduler | undefined)[]) => {
  const given = others.find(isScheduler);
  const periodMs = others.find((one) => typeof one === 'number');
  const scheduler = given ?? streamScheduler;
  const after = (dueMs: number | Date) =>
    periodMs === undefined ? rxjs.timer(dueMs, scheduler) : rxjs.timer(dueMs, periodMs, scheduler);
  if (!isDate(due) || given !== undefined) return after(due);
  return rxjs.defer(() => waitThen(untilMs(due), scheduler, after));
}) as typeof rxjs.timer;

export const delay = ((due: number | Date, scheduler?: Scheduler) =>
  isDate(due) && scheduler === undefined
    ? rxjs.delayWhen(() => timer(due))
    : rxjs.delay(due, scheduler ?? streamScheduler)) as typeof rxjs.delay;

export const debounceTime = ((dueMs: number, scheduler: Scheduler = streamScheduler) =>
  rxjs.debounceTime(dueMs, scheduler)) as typeof rxjs.debounceTime;

export const bufferTime = ((spanMs: number, ...others: unknown[]) =>
  rxjs.bufferTime(spanMs, ...(withScheduler(others) as [number, number, Scheduler]))) as typeof rxjs.bufferTime;

export const windowTime = ((spanMs: number, ...others: unknown[]) =>
  rxjs.windowTime(spanMs, ...(withScheduler(others) as [number, number, Scheduler]))) as typeof rxjs.windowTime;

export const timeInterval = ((scheduler: Scheduler = steady(streamScheduler)) =>
  rxjs.timeInterval(scheduler)) as typeof rxjs.timeInterval;

export const timestamp = ((provider: rxjs.TimestampProvider = timeOfDay) =>
  rxjs.timestamp(provider)) as typeof rxjs.timestamp;

type TimeoutConfig = rxjs.TimeoutConfig<unknown, rxjs.ObservableInput<unknown>>;

export const timeout = ((given: number | Date | TimeoutConfig, scheduler?: Scheduler) => {
  const config: TimeoutConfig = isDate(given) ? { first: given } : typeof given === 'number' ? { each: given } : given;
  const own = config.scheduler ?? scheduler;
  const { first } = config;
  if (!isDate(first) || own !== undefined) return rxjs.timeout({ ...config, scheduler: own ?? streamScheduler });
  return (source: rxjs.Observable<unknown>) =>
    rxjs.defer(() => {
      const firstMs = Math.min(longestDurationMs, untilMs(first));
      return source.pipe(rxjs.timeout({ ...config, first: firstMs, scheduler: streamScheduler }));
    });
}) as typeof rxjs.timeout;

export const timeoutWith = ((
  due: number | Date,
  other: rxjs.ObservableInput<unknown>,
  scheduler: Scheduler = streamScheduler,
) =>
  timeout({
    ...(isDate(due) ? { first: due } : { each: due }),
    with: () => other,
    scheduler,
  })) as typeof rxjs.timeoutWith;

export const repeat = ((given?: number | rxjs.RepeatConfig) =>
  rxjs.repeat(withTimer(given) as rxjs.RepeatConfig)) as typeof rxjs.repeat;

export const retry = ((given?: number | rxjs.RetryConfig) =>
  rxjs.retry(withTimer(given) as rxjs.RetryConfig)) as typeof rxjs.retry;

export class ReplaySubject<T> extends rxjs.ReplaySubject<T> {
  constructor(bufferSize?: number, windowTimeMs?: number, provider: rxjs.TimestampProvider = steadyTime) {
    super(bufferSize, windowTimeMs, provider);
  }
}

export const shareReplay = ((
  given?: number | rxjs.ShareReplayConfig,
  windowTimeMs?: number,
  scheduler: rxjs.TimestampProvider = steadyTime,
) =>
  typeof given === 'object'
    ? rxjs.shareReplay({ scheduler: scheduler as Scheduler, ...given })
    : rxjs.shareReplay(given, windowTimeMs, scheduler as Scheduler)) as typeof rxjs.shareReplay;

export const publishReplay = ((
  bufferSize?: number,
  windowTimeMs?: number,
  selector?: unknown,
  provider: rxjs.TimestampProvider = steadyTime,
) =>
  typeof selector === 'function'
    ? rxjs.publishReplay(bufferSize, windowTimeMs, selector as never, provider)
    : rxjs.publishReplay(
        bufferSize,
        windowTimeMs,
        (selector ?? provider) as rxjs.TimestampProvider,
      )) as typeof rxjs.publishReplay;

/**
 * Waits, in steps, for a duration that may exceed the maximum duration of a platform timer. `then` returns the stream for the last step.
 */
function waitThen<T>(ms: number, scheduler: Scheduler, then: (ms: number) => rxjs.Observable<T>): rxjs.Observable<T> {
  if (ms <= longestDurationMs) return then(ms);
  const waited = rxjs.timer(longestDurationMs, scheduler);
  return waited.pipe(rxjs.mergeMap(() => waitThen(ms - longestDurationMs, scheduler, then)));
}

function untilMs(date: Date): number {
  return Math.max(0, date.getTime() - timeOfDay.now());
}

function isDate(value: unknown): value is Date {
  return value instanceof Date && !Number.isNaN(value.getTime());
}

function isScheduler(value: unknown): value is Scheduler {
  return typeof (value as Partial<Scheduler> | undefined)?.schedule === 'function';
}

function withScheduler(others: readonly unknown[]): readonly unknown[] {
  return isScheduler(others.at(-1)) ? others : [...others, streamScheduler];
}

/** Replaces a delay in milliseconds with the hub's timer, because RxJS would use its own scheduler. */
function withTimer(given: number | { readonly delay?: unknown } | undefined): unknown {
  if (typeof given !== 'object' || typeof given.delay !== 'number') return given;
  const { delay } = given;
  return { ...given, delay: () => timer(delay) };
}
