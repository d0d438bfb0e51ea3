// One life of the keyboard's process, from its start to its end. What the process says becomes events, presses go to it one by
// one, and an answer that does not come ends it.

import { type ChildProcess, fork } from 'node:child_process';
import { extname } from 'node:path';
import {
  BehaviorSubject,
  concat,
  defer,
  firstValueFrom,
  merge,
  NEVER,
  Observable,
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
import type { Combination } from './combination.ts';
import { type FromProcess, fromProcess, type ToProcess, type Unusable } from './keyboard-messages.ts';
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

// Starts the keyboard's own process, hears what it says, and ends it. Each message of the process is checked. When the process
// ends, the Observable errs.

/** A process that does not end by itself within this time is killed. */
const exitDeadlineMs = 1000;
const maxLastWords = 300;

/** The program of that process: `.ts` where Node strips types, `.js` in the package. */
const program = new URL(`./process/main${extname(import.meta.filename)}`, import.meta.url);

/** How the process ended, with what it wrote last: `SIGABRT: XOpenDisplay failure!`. */
export class ProcessEnded extends Error {}

/**
 * Runs the process. Cold, emits what it says, never completes. Errors: `ProcessEnded`; or the error of `toProcess$`, once the
 * process has been ended by force. Unsubscribing lets it finish the press under way and ends it, by force after a second;
 * `finish` gets its end, with the signal or exit code.
 */
export function runProcess(
  toProcess$: Observable<ToProcess>,
  { scheduler, finish }: { scheduler: SchedulerLike; finish(end: Promise<string>): void },
): Observable<FromProcess> {
  return new Observable((subscriber) => {
    const child = fork(program, {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const lastWords = hearLastWords(child);
    let reason: unknown;
    const reportEnd = (how: string) =>
      subscriber.error(reason ?? new ProcessEnded([how, lastWords()].filter((part) => part !== '').join(': ')));
    let hasEnded = false;
    const end = endOf(child);
    end.then((how) => {
      hasEnded = true;
      reportEnd(how);
    });
    child.on('error', (error) => child.pid === undefined && reportEnd(error.message));
    child.on('message', (message) => {
      const said = fromProcess.safeParse(message);
      if (said.success) subscriber.next(said.data); // other messages are Node's own: with --watch it reports imports here
    });
    subscriber.add(
      toProcess$.subscribe({
        // a process that is gone tells so by its end; one that could not be made has no channel
        next: (message) => void child.send?.(message, () => {}),
        error: (error) => {
          reason = error;
          child.kill('SIGKILL');
        },
      }),
    );
    return () => {
      if (child.pid === undefined || hasEnded) return;
      if (child.connected) child.disconnect();
      const kill = timer(exitDeadlineMs, scheduler).subscribe({ next: () => void child.kill('SIGKILL') });
      end.then(() => kill.unsubscribe());
      finish(end);
    };
  });
}

/** Keeps what the process wrote last to its standard error, on one line. */
function hearLastWords(child: ChildProcess): () => string {
  let lastWords = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastWords = `${lastWords} ${text}`.replaceAll(/\s+/g, ' ').trim().slice(-maxLastWords);
  });
  return () => lastWords;
}

/**
 * Resolves with the signal or exit code, once everything that the process said and wrote has been heard. It does not wait for
 * `close`: that does not come after a disconnect from this side.
 */
async function endOf(child: ChildProcess): Promise<string> {
  const [how] = await Promise.all([
    new Promise<string>((resolve) => child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))),
    new Promise((resolve) => child.stderr?.once('close', resolve)),
    new Promise((resolve) => child.once('disconnect', resolve)),
  ]);
  return how;
}

// Presses on their way to the keyboard. They are made one at a time, first in, first out. Their number is bounded, and none are
// kept for a keyboard that is not there.

/** How many presses may wait; at about 20 ms each that is 20 seconds of typing. */
export const maxPendingPresses = 1000;

const nothing: readonly number[] = [];

/** Presses that will not be made, and why. */
export interface LostPresses {
  readonly count: number;
  readonly reason: string;
}

export class PressQueue {
  readonly #lost$ = new Subject<LostPresses>();
  #pending: Combination[] = [];
  #underWay: Combination | undefined;
  #held = nothing;
  #press: ((combination: Combination) => void) | undefined;

  /** Hot, replays nothing, synchronous, never completes, never errors. */
  readonly lost$: Observable<LostPresses> = this.#lost$.asObservable();

  /** The codes of the keys that may be down, by the press under way or by one that was cut off. */
  get held(): readonly number[] {
    return this.#held;
  }

  /** The keyboard is there and all keys are up; `press` is called for each combination, once the one before is `done`. */
  open(press: (combination: Combination) => void): void {
    this.#held = nothing;
    this.#press = press;
  }

  push(combination: Combination): void {
    if (this.#press === undefined) this.#lost$.next({ count: 1, reason: 'the keyboard is not there' });
    else if (this.#pending.length >= maxPendingPresses)
      this.#lost$.next({ count: 1, reason: `${maxPendingPresses} presses are waiting` });
    else {
      this.#pending.push(combination);
      this.#pressNext();
    }
  }

  /** The press under way is about to press these keys. */
  hold(codes: readonly number[]): void {
    this.#held = codes;
  }

  /** The press under way has been made, and its keys are up. */
  done(): void {
    this.#held = nothing;
    this.#underWay = undefined;
    this.#pressNext();
  }

  /** The keyboard is gone: drops every press, and remembers which keys may be down. */
  close(): void {
    const count = this.#pending.length + (this.#underWay === undefined ? 0 : 1);
    this.#pending = [];
    this.#underWay = undefined;
    this.#press = undefined;
    if (count > 0) this.#lost$.next({ count, reason: 'the keyboard went away' });
  }

  #pressNext(): void {
    if (this.#underWay !== undefined || this.#press === undefined) return;
    this.#underWay = this.#pending.shift();
    if (this.#underWay !== undefined) this.#press(this.#underWay);
  }
}
