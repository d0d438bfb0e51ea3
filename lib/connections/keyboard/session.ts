// One life of the keyboard's process, from its start to its end. What the process says becomes events, presses go to it one by
// one, and an answer that does not come ends it.
import {
  BehaviorSubject,
  concat,
  defer,
  firstValueFrom,
  merge,
  NEVER,
  type Observable,
  of,
  type SchedulerLike,
  Subject,
  throwError,
  timer,
} from 'rxjs';
import {
  catchError,
  filter,
  finalize,
  ignoreElements,
  mergeMap,
  repeat,
  startWith,
  switchMap,
  timeout,
} from 'rxjs/operators';
import { messageOf } from '../../model/error.ts';
import { Backoff } from '../../model/time/backoff.ts';
import type { ConnectionContext, ConnectionEvent } from '../connection.ts';
import { ProcessEnded, runProcess } from './channel.ts';
import type { FromProcess, ToProcess, Unusable } from './messages.ts';
import type { PressQueue } from './press-queue.ts';
import type { KeyboardSettings } from './settings.ts';

/** The process is ready within this time; otherwise its X server hangs. */
const startDeadlineMs = 8000;
/** A press is made within this time; it takes 80 ms at most. */
const pressDeadlineMs = 3000;
const listening = 'listening';
const pressing = 'pressing';
const orderly = 'exit code 0';

/**
 * Runs the process once. Cold, never completes. Errors when the keyboard cannot be used any more, with the reason for the
 * operator; `Interrupted` when that has left keys down.
 */
export function runSession(
  context: ConnectionContext<KeyboardSettings>,
  presses: PressQueue,
): Observable<ConnectionEvent> {
  return defer(() => new Session(context, presses).run());
}

class Session {
  readonly #context: ConnectionContext<KeyboardSettings>;
  readonly #presses: PressQueue;
  /** The codes of keys that the process before may have left down. */
  readonly #leftDown: readonly number[];
  readonly #toProcess$ = new Subject<ToProcess>();
  /** Why combinations cannot be used. */
  #reasons: ReadonlyMap<string, string> = new Map();
  /** What the process is doing, in words for the operator. */
  readonly #doing$ = new BehaviorSubject('starting');

  constructor(context: ConnectionContext<KeyboardSettings>, presses: PressQueue) {
    this.#context = context;
    this.#presses = presses;
    this.#leftDown = presses.held;
  }

  run(): Observable<ConnectionEvent> {
    const { settings, scheduler } = this.#context;
    const first: ToProcess = {
      listen: settings.inputKeys.map(({ keys }) => keys),
      press: settings.outputKeys.map(({ keys }) => keys),
      release: this.#leftDown,
    };
    const toProcess$ = merge(this.#toProcess$, this.#failWhenSilent()).pipe(startWith(first));
    return runProcess(toProcess$, { scheduler, finish: (end) => this.#finish(end) }).pipe(
      mergeMap((said) => this.#eventsOf(said)),
      catchError((error) => {
        throw this.#endOf(error);
      }),
      finalize(() => this.#presses.close()),
    );
  }

  #eventsOf(said: FromProcess): ConnectionEvent[] {
    if ('fired' in said) {
      const hotkey = this.#context.settings.inputKeys[said.fired];
      return hotkey === undefined ? [] : [{ set: `input/${hotkey.written}`, value: true }];
    }
    if ('ready' in said) {
      this.#doing$.next(listening);
      this.#openPresses();
      return [{ state: 'running' }];
    }
    if ('unusable' in said) this.#logUnusable(said.unusable);
    else if ('opening' in said) this.#doing$.next(`opening the display ${said.opening}`);
    else if ('holding' in said) this.#presses.hold(said.holding);
    else if ('pressed' in said) this.#endPress(said.failure);
    else this.#toProcess$.error(new Error(said.fault));
    return [];
  }

  /** Logs each combination once that cannot be used, and once more when it can. */
  #logUnusable(unusable: readonly Unusable[]): void {
    const { settings, log } = this.#context;
    const reasons = new Map<string, string>();
    for (const { side, place, reason } of unusable) {
      const { written } = settings[`${side}Keys`][place]!;
      reasons.set(`${side}/${written} cannot be ${side === 'input' ? 'heard' : 'pressed'}`, reason);
    }
    for (const [what, reason] of reasons) if (this.#reasons.get(what) !== reason) log.warn({}, `${what}: ${reason}`);
    for (const what of this.#reasons.keys())
      if (!reasons.has(what)) log.info({}, `${what.replace('cannot', 'can')} again`);
    this.#reasons = reasons;
  }

  #openPresses(): void {
    this.#presses.open(({ keys, written }) => {
      this.#doing$.next(`${pressing} ${written}`);
      this.#toProcess$.next({ press: keys });
    });
  }

  #endPress(failure: string): void {
    this.#doing$.next(listening);
    if (failure !== '') this.#context.log.warn({}, `a press failed: ${failure}`);
    this.#presses.done();
  }

  /** Errs when an answer does not come in time. */
  #failWhenSilent(): Observable<never> {
    const { scheduler } = this.#context;
    return this.#doing$.pipe(
      switchMap((doing) => {
        if (doing === listening) return NEVER;
        return timer(doing.startsWith(pressing) ? pressDeadlineMs : startDeadlineMs, scheduler);
      }),
      mergeMap(() => throwError(() => new Error(`the keyboard process hangs while ${this.#doing$.value}`))),
    );
  }

  /** A process that ends in an orderly way has released all keys. */
  #finish(end: Promise<string>): void {
    this.#context.finish(end.then((how) => how === orderly && this.#presses.hold([])));
  }

  /** The error that ends the session: one of its own if keys are down that only the next process can release. */
  #endOf(error: unknown): Error {
    const reason =
      error instanceof ProcessEnded
        ? `the keyboard process ended while ${this.#doing$.value} (${error.message})`
        : messageOf(error);
    const isInterrupted = this.#presses.held.length > 0 && this.#presses.held !== this.#leftDown;
    return new (isInterrupted ? Interrupted : Error)(reason, { cause: error });
  }
}

// Keeps a session going: when it errs, the connection is degraded with the reason, and after a pause the session starts
// again. The connection itself does not end, and so does not forget what it counts.

const backoffTimes = { firstMs: 1000, longestMs: 10_000, provenMs: 60_000 };

/** A session has ended in the middle of a press, and only the next one can release the keys. */
class Interrupted extends Error {}

/**
 * Runs the session again and again, 1, 2, 4, 8, then 10 s after each error; at once after one that was
 * `Interrupted`. Cold, never completes, never errors.
 */
export function restartWithBackoff(
  session$: Observable<ConnectionEvent>,
  scheduler: SchedulerLike,
): Observable<ConnectionEvent> {
  return defer(() => {
    const backoff = new Backoff(backoffTimes);
    let startedAt = 0;
    return defer(() => {
      startedAt = scheduler.now();
      return session$;
    }).pipe(
      catchError((error) => {
        backoff.ran(scheduler.now() - startedAt);
        const pauseMs = error instanceof Interrupted ? 0 : backoff.next();
        return concat(
          of<ConnectionEvent>({ state: 'degraded', reason: messageOf(error) }),
          timer(pauseMs, scheduler).pipe(ignoreElements()),
        );
      }),
      repeat(),
    );
  });
}

// A process that is killed in the middle of a press leaves keys down. If its connection is stopped then, they are released here.

/** Starts one more process that releases the keys, if there are any; resolves when that has ended. Never errs. */
export async function releaseHeld(
  { held }: PressQueue,
  { scheduler, log }: Pick<ConnectionContext<unknown>, 'scheduler' | 'log'>,
): Promise<void> {
  if (held.length === 0) return;
  const ends: Promise<string>[] = [];
  const first$ = of<ToProcess>({ listen: [], press: [], release: held });
  const said$ = runProcess(first$, { scheduler, finish: (end) => void ends.push(end) });
  const ready$ = said$.pipe(
    filter((said) => 'ready' in said),
    timeout({ first: startDeadlineMs, scheduler }),
  );
  await firstValueFrom(ready$).catch((error) => log.warn({}, `keys may be left down: ${messageOf(error)}`));
  await Promise.all(ends);
}
