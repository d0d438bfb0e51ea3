// Operators of RxJS that hold values back, or what is made of them: what they emit later has the change as its cause that the value
// came with. Flows in TypeScript get them in place of those of RxJS, of which only the causes are another.

import * as rxjs from 'rxjs';
import { type KeptCause, keepCause, streamScheduler } from './stream-causes.ts';

interface Kept<T> {
  readonly value: T;
  readonly cause: KeptCause;
}

type Project = (value: unknown, index: number) => rxjs.ObservableInput<unknown>;

/** Hands values on in a way of its own. It ends with who hears it, also in the middle of values that come all at once. */
class Handing<T> extends rxjs.Subscriber<T> {
  readonly #hand: (value: T) => void;

  constructor(hearer: rxjs.Subscriber<unknown>, hand: (value: T) => void) {
    super(hearer);
    this.#hand = hand;
  }

  protected override _next(value: T): void {
    this.#hand(value);
  }
}

/** Has an operator that passes values on, later, do so on behalf of the changes that they came with. */
function passing(operator: rxjs.OperatorFunction<Kept<unknown>, Kept<unknown>>) {
  return (source: rxjs.Observable<unknown>) =>
    new rxjs.Observable((subscriber) => {
      const hand = ({ value, cause }: Kept<unknown>) => cause.run(() => subscriber.next(value));
      return source.pipe(rxjs.map(keep), operator).subscribe(new Handing(subscriber, hand));
    });
}

/** Has a selector, of which the values are kept, see them as they came. */
function seeing<T>(select: (value: unknown) => T): (kept: Kept<unknown>) => T {
  return ({ value }) => select(value);
}

/** Has an operator run the stream that it makes of a value on behalf of the change that the value came with. */
function making(operator: (project: Project, ...others: unknown[]) => rxjs.OperatorFunction<unknown, unknown>) {
  return (project: Project, ...others: unknown[]) => {
    if (typeof others[0] === 'function') return operator(project, ...others); // an old form, with a selector of results
    const projectKept = (value: unknown, index: number) => inner(value as Kept<unknown>, index, project);
    return (source: rxjs.Observable<unknown>) => source.pipe(rxjs.map(keep), operator(projectKept, ...others));
  };
}

function inner({ value, cause }: Kept<unknown>, index: number, project: Project): rxjs.Observable<unknown> {
  return new rxjs.Observable((subscriber) => {
    const hand = (made: unknown) => cause.runUnlessKnown(() => subscriber.next(made));
    cause.run(() => rxjs.from(project(value, index)).subscribe(new Handing(subscriber, hand)));
  });
}

function keep<T>(value: T): Kept<T> {
  return { value, cause: keepCause() };
}

export const auditTime = ((durationMs: number, scheduler: rxjs.SchedulerLike = streamScheduler) =>
  passing(rxjs.auditTime(durationMs, scheduler))) as typeof rxjs.auditTime;
export const sampleTime = ((periodMs: number, scheduler: rxjs.SchedulerLike = streamScheduler) =>
  passing(rxjs.sampleTime(periodMs, scheduler))) as typeof rxjs.sampleTime;
export const throttleTime = ((
  durationMs: number,
  scheduler: rxjs.SchedulerLike = streamScheduler,
  config?: rxjs.ThrottleConfig,
) => passing(rxjs.throttleTime(durationMs, scheduler, config))) as typeof rxjs.throttleTime;
export const sample = ((notifier: rxjs.ObservableInput<unknown>) =>
  passing(rxjs.sample(notifier))) as typeof rxjs.sample;
export const audit = ((select: Parameters<typeof rxjs.audit>[0]) =>
  passing(rxjs.audit(seeing(select)))) as typeof rxjs.audit;
export const throttle = ((select: Parameters<typeof rxjs.throttle>[0], config?: rxjs.ThrottleConfig) =>
  passing(rxjs.throttle(seeing(select), config))) as typeof rxjs.throttle;
export const concatMap = making(rxjs.concatMap as never) as typeof rxjs.concatMap;
export const mergeMap = making(rxjs.mergeMap as never) as typeof rxjs.mergeMap;
export const switchMap = making(rxjs.switchMap as never) as typeof rxjs.switchMap;
export const exhaustMap = making(rxjs.exhaustMap as never) as typeof rxjs.exhaustMap;
