// A disk that takes long: while a commit does, and for a while after it, its lag is told.
import { type Observable, type SchedulerLike, Subscription } from 'rxjs';
import { take } from 'rxjs/operators';
import type { BackoffTimes } from '../../model/time/backoff.ts';
import { within } from '../../model/time/deadline.ts';
import type { ConnectionEvent } from '../connection.ts';
import type { LeftOut } from './thread/values/values-messages.ts';

/** A commit that takes longer is told: what was to be kept may be older than half a second when it is safe. */
const slowMs = 300;
/** So long after the last slow commit the disk counts as well again. */
const recoveredMs = 2000;
const tellEveryMs = 1000;
/** How long somebody waits at most until what has changed is written. */
export const flushDeadlineMs = 2000;
/**
 * How long a database that is written stays open for those who read it. The last one to close it empties its log, and who only reads
 * cannot.
 */
const readersDeadlineMs = 500;
/** The pauses before a database is tried again that cannot be opened or written. */
export const againTimes: BackoffTimes = { firstMs: 500, longestMs: 5000 };

export class SlowDisk {
  readonly #scheduler: SchedulerLike;
  readonly #tell: () => void;
  #last: { readonly ms: number; readonly at: number } | undefined;

  /** `tell` is called whenever there is something new to tell. */
  constructor(scheduler: SchedulerLike, tell: () => void) {
    this.#scheduler = scheduler;
    this.#tell = tell;
  }

  /** Says with which lag `what` is written, that of the last slow commit; undefined: the disk is well. */
  describeLag(what: string): string | undefined {
    if (this.#last !== undefined && this.#scheduler.now() - this.#last.at > recoveredMs) this.#last = undefined;
    return this.#last && `${what} are written with a lag of ${this.#last.ms} ms: the disk is slow`;
  }

  /** Waits for a commit, and watches how long it takes. Errors: those of the commit. */
  async watch<Result>(commit: Promise<Result>): Promise<Result> {
    const startedAt = this.#scheduler.now();
    const note = () => {
      const now = this.#scheduler.now();
      this.#last = { ms: Math.round(now - startedAt), at: now };
      this.#tell();
    };
    const telling = this.#scheduler.schedule(function () {
      note();
      this.schedule(undefined, tellEveryMs);
    }, slowMs);
    try {
      return await commit;
    } finally {
      telling.unsubscribe();
      if (this.#scheduler.now() - startedAt > slowMs) note();
    }
  }
}

// The state of a part of the store, or of all of them, which is told when it is another one.

export class ToldState {
  readonly #tell: (event: ConnectionEvent) => void;
  #told: string | undefined;

  constructor(tell: (event: ConnectionEvent) => void) {
    this.#tell = tell;
  }

  /** Takes over all that is wrong: a sentence each, undefined: this is not. */
  set(...reasons: readonly (string | undefined)[]): void {
    const reason = reasons.filter((text) => text !== undefined).join('; ');
    if (reason === this.#told) return;
    this.#told = reason;
    this.#tell(reason === '' ? { state: 'running' } : { state: 'degraded', reason });
  }
}

/** Waits for readers of a database to end, before those who write it close it; not for long. */
export async function awaitReaders(...ended: readonly Promise<unknown>[]): Promise<void> {
  await within(Promise.allSettled(ended), readersDeadlineMs);
}

// How long a store sleeps in which nothing has to be written: until something happens, so that a hub in which nothing does sleeps too.

/** How long who waits for something to happen waits at most: what nobody tells is found then. */
const idleMs = 200;

/**
 * For `Pause.until`: resolves some time after something has happened. It hears of that alone, so what happens often costs
 * nothing.
 */
export function afterNext(happens$: Observable<unknown>, delayMs: number, scheduler: SchedulerLike) {
  return (resolve: () => void): Subscription => {
    const waiting = new Subscription();
    const longest = scheduler.schedule(() => resolve(), idleMs);
    waiting.add(longest);
    const next = () => {
      longest.unsubscribe();
      waiting.add(scheduler.schedule(() => resolve(), delayMs));
    };
    waiting.add(happens$.pipe(take(1)).subscribe({ next, error: () => {} }));
    return waiting;
  };
}

// What a database could not take, as the connection says it: once, for the first row; how many there were since is counted.

export class LeftOutCount {
  readonly #what: string;
  /** How many rows were left out. */
  count = 0;
  /** The sentence for operators; undefined: all rows could be written. */
  text: string | undefined;

  /** `what` names the rows: `entries`. */
  constructor(what: string) {
    this.#what = what;
  }

  add(leftOut: LeftOut | undefined): void {
    if (leftOut === undefined) return;
    this.count += leftOut.count;
    this.text ??= `${this.#what} that the database cannot take are left out, the first one was ${leftOut.first}`;
  }
}

// How many rows a second are written, over the last ten seconds.

const spanSeconds = 10;

export class RowRate {
  /** By second, modulo the span. */
  readonly #rows = new Array<number>(spanSeconds).fill(0);
  #second = 0;

  /** Counts rows; `nowMs` never decreases. */
  add(nowMs: number, rows: number): void {
    this.#rows[this.#moveTo(nowMs) % spanSeconds]! += rows;
  }

  perSecond(nowMs: number): number {
    this.#moveTo(nowMs);
    return this.#rows.reduce((sum, rows) => sum + rows, 0) / spanSeconds;
  }

  /** Forgets the seconds that have passed since, up to the whole span. */
  #moveTo(nowMs: number): number {
    const second = Math.floor(nowMs / 1000);
    for (let passed = Math.max(this.#second, second - spanSeconds) + 1; passed <= second; passed++)
      this.#rows[passed % spanSeconds] = 0;
    this.#second = second;
    return second;
  }
}
