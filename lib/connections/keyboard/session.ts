// A session is one run of the keyboard process, from its start to its end. Messages from the process become events, presses are sent to the
// process one by one, and the session ends if an answer is missing.

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
import { endWithHub } from '../orphans.ts';
import type { Combination } from './combination.ts';
import { type FromProcess, fromProcess, type ToProcess, type Unusable } from './keyboard-messages.ts';
import type { KeyboardSettings } from './settings.ts';

/** The time within which the process must be ready, in milliseconds. The process takes longer only if its X server hangs. */
const startDeadlineMs = 8000;
/** The time limit for a press, in milliseconds. A press takes at most 80 ms. */
const pressDeadlineMs = 3000;
const listening = 'listening';
const pressing = 'pressing';
const orderly = 'exit code 0';

/**
 * Runs the keyboard process once. Cold, never completes. Errors: when the keyboard can no longer be used, an error with the reason for
 * operators, or `Interrupted` if keys may still be down.
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
  /** The codes of keys that the previous process may have left down. */
  readonly #leftDown: readonly number[];
  readonly #toProcess$ = new Subject<ToProcess>();
  /** The reasons why combinations cannot be used, keyed by combination. */
  #reasons: ReadonlyMap<string, string> = new Map();
  /** What the process is currently doing, described for operators. */
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
      mergeMap((message) => this.#eventsOf(message)),
      catchError((error) => {
        throw this.#endOf(error);
      }),
      finalize(() => this.#presses.close()),
    );
  }

  #eventsOf(message: FromProcess): ConnectionEvent[] {
    if ('fired' in message) {
      const hotkey = this.#context.settings.inputKeys[message.fired];
      return hotkey === undefined ? [] : [{ set: `input/${hotkey.written}`, value: true }];
    }
    if ('ready' in message) {
      this.#doing$.next(listening);
      this.#openPresses();
      return [{ state: 'running' }];
    }
    if ('unusable' in message) this.#logUnusable(message.unusable);
    else if ('opening' in message) this.#doing$.next(`opening the display ${message.opening}`);
    else if ('holding' in message) this.#presses.hold(message.holding);
    else if ('pressed' in message) this.#endPress(message.failure);
    else this.#toProcess$.error(new Error(message.fault));
    return [];
  }

  /** Logs each combination once when it has become unusable, and once when it is usable again. */
  #logUnusable(unusable: readonly Unusable[]): void {
    const { settings, log } = this.#context;
    const reasons = new Map<string, string>();
    for (const { side, place, reason } of unusable) {
      const { written } = settings[`${side}Keys`][place]!;
      reasons.set(`${side}/${written} cannot be ${side === 'input' ? 'detected' : 'pressed'}`, reason);
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
    if (failure !== '') this.#context.log.warn({}, `a key press failed: ${failure}`);
    this.#presses.done();
  }

  /** Returns an Observable that errors if an answer does not arrive in time. */
  #failWhenSilent(): Observable<never> {
    const { scheduler } = this.#context;
    return this.#doing$.pipe(
      switchMap((doing) => {
        if (doing === listening) return NEVER;
        return timer(doing.startsWith(pressing) ? pressDeadlineMs : startDeadlineMs, scheduler);
      }),
      mergeMap(() =>
        throwError(() => new Error(`the keyboard process stopped responding while ${this.#doing$.value}`)),
      ),
    );
  }

  /** Handles the end of the process. A process that ends properly has released all keys. */
  #finish(end: Promise<string>): void {
    this.#context.finish(end.then((how) => how === orderly && this.#presses.hold([])));
  }

  /** Returns the error that ends the session: `Interrupted` if keys are down that only the next process can release. */
  #endOf(error: unknown): Error {
    const reason =
      error instanceof ProcessEnded
        ? `the keyboard process ended while ${this.#doing$.value} (${error.message})`
        : messageOf(error);
    const isInterrupted = this.#presses.held.length > 0 && this.#presses.held !== this.#leftDown;
    return new (isInterrupted ? Interrupted : Error)(reason, { cause: error });
  }
}

// Keeps a session running. When a session errors, the connection is degraded with the reason, and another session starts after a pause. The
// connection itself continues and therefore keeps its counts.

const backoffTimes = { firstMs: 1000, longestMs: 10_000, provenMs: 60_000 };

/** The error for a session that has ended during a press, after which only the next session can release the keys. */
class Interrupted extends Error {}

/**
 * Runs sessions one after another. After an error, the next session starts after 1, 2, 4, 8 and then 10 s; after `Interrupted`, it starts
 * immediately. Cold, never completes, never errors.
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

// A process that is killed during a press leaves keys down. If the connection is stopped at this moment, the keys are released here.

/** Starts another process that releases the keys, if any keys are down. Resolves when this process has ended. Never rejects. */
export async function releaseHeld(
  { held }: PressQueue,
  { scheduler, log }: Pick<ConnectionContext<unknown>, 'scheduler' | 'log'>,
): Promise<void> {
  if (held.length === 0) return;
  const ends: Promise<string>[] = [];
  const first$ = of<ToProcess>({ listen: [], press: [], release: held });
  const messages$ = runProcess(first$, { scheduler, finish: (end) => void ends.push(end) });
  const ready$ = messages$.pipe(
    filter((message) => 'ready' in message),
    timeout({ first: startDeadlineMs, scheduler }),
  );
  await firstValueFrom(ready$).catch((error) => log.warn({}, `keys may remain pressed: ${messageOf(error)}`));
  await Promise.all(ends);
}

// Starts the keyboard process, reads and checks its messages, and ends it. The Observable errors when the process ends.

/** The time after which a process that does not end on request is killed, in milliseconds. */
const exitDeadlineMs = 1000;
const maxLastOutput = 300;

/** The file with the program of the process: `.ts` if Node.js strips types, `.js` in the package. */
const program = new URL(`./process/main${extname(import.meta.filename)}`, import.meta.url);

/**
 * The error for a process that has ended. The message contains the signal or exit code and the last output: `SIGABRT: XOpenDisplay
 * failure!`.
 */
export class ProcessEnded extends Error {}

/**
 * Runs the keyboard process and emits its messages. Cold, never completes. Errors: `ProcessEnded`, or the error from `toProcess$` after the
 * process has been killed. After the subscriber unsubscribes, the process finishes the current press and ends; if it has not ended after a
 * second, it is killed. `finish` receives a promise that resolves with the signal or exit code when the process has ended.
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
    endWithHub(child);
    const lastOutput = collectLastOutput(child);
    let reason: unknown;
    const reportEnd = (how: string) =>
      subscriber.error(reason ?? new ProcessEnded([how, lastOutput()].filter((part) => part !== '').join(': ')));
    let hasEnded = false;
    const end = endOf(child);
    end.then((how) => {
      hasEnded = true;
      reportEnd(how);
    });
    child.on('error', (error) => child.pid === undefined && reportEnd(error.message));
    child.on('message', (message) => {
      const parsed = fromProcess.safeParse(message);
      if (parsed.success) subscriber.next(parsed.data); // other messages come from Node.js, which reports imports with --watch
    });
    subscriber.add(
      toProcess$.subscribe({
        // a process that has ended is reported by its end, and a process that could not start has no channel
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

/** Collects the standard error output of the process. Returns a function that returns the last part of the output on one line. */
function collectLastOutput(child: ChildProcess): () => string {
  let lastOutput = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastOutput = `${lastOutput} ${text}`.replaceAll(/\s+/g, ' ').trim().slice(-maxLastOutput);
  });
  return () => lastOutput;
}

/**
 * Resolves with the signal or exit code after all messages and output have been read. Does not wait for the event `close`, which is not
 * emitted after this side has disconnected.
 */
async function endOf(child: ChildProcess): Promise<string> {
  const [how] = await Promise.all([
    new Promise<string>((resolve) => child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))),
    new Promise((resolve) => child.stderr?.once('close', resolve)),
    new Promise((resolve) => child.once('disconnect', resolve)),
  ]);
  return how;
}

// The presses that are waiting for the keyboard. They are made one at a time, first in, first out. Their number is limited, and no presses
// are kept while the keyboard is unavailable.

/** The maximum number of presses in the queue. At about 20 ms per press, this number corresponds to 20 seconds. */
export const maxPendingPresses = 1000;

const nothing: readonly number[] = [];

/** Presses that will not be made, with the reason. */
export interface LostPresses {
  readonly count: number;
  readonly reason: string;
}

export class PressQueue {
  readonly #lost$ = new Subject<LostPresses>();
  #pending: Combination[] = [];
  #current: Combination | undefined;
  #held = nothing;
  #press: ((combination: Combination) => void) | undefined;

  /** Emits the lost presses. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly lost$: Observable<LostPresses> = this.#lost$.asObservable();

  /** The codes of keys that may be down because of the current press or an interrupted press. */
  get held(): readonly number[] {
    return this.#held;
  }

  /**
   * Must be called when the keyboard is ready and all keys are up. `press` is called for the first combination, and for the next
   * combination after each call of `done`.
   */
  open(press: (combination: Combination) => void): void {
    this.#held = nothing;
    this.#press = press;
  }

  push(combination: Combination): void {
    if (this.#press === undefined) this.#lost$.next({ count: 1, reason: 'no keyboard is available' });
    else if (this.#pending.length >= maxPendingPresses)
      this.#lost$.next({ count: 1, reason: `${maxPendingPresses} presses are waiting` });
    else {
      this.#pending.push(combination);
      this.#pressNext();
    }
  }

  /** Must be called when the current press is about to press the keys with these codes. */
  hold(codes: readonly number[]): void {
    this.#held = codes;
  }

  /** Must be called when the current press is complete and its keys are up. */
  done(): void {
    this.#held = nothing;
    this.#current = undefined;
    this.#pressNext();
  }

  /** Handles the loss of the keyboard: discards all presses and remembers which keys may be down. */
  close(): void {
    const count = this.#pending.length + (this.#current === undefined ? 0 : 1);
    this.#pending = [];
    this.#current = undefined;
    this.#press = undefined;
    if (count > 0) this.#lost$.next({ count, reason: 'the keyboard was disconnected' });
  }

  #pressNext(): void {
    if (this.#current !== undefined || this.#press === undefined) return;
    this.#current = this.#pending.shift();
    if (this.#current !== undefined) this.#press(this.#current);
  }
}
