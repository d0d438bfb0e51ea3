// A keeper writes the data for one part of the store in a separate thread. The keeper opens a database, writes one batch after another,
// reports faults, and finally writes the remaining data. The values, the history and the audit each define their own database and batches.
import { merge, Observable, type SchedulerLike, Subscription } from 'rxjs';
import { take } from 'rxjs/operators';
import { Backoff } from '../../model/time/backoff.ts';
import { within } from '../../model/time/deadline.ts';
import { Pause } from '../../model/time/wall-clock.ts';
import type { ConnectionEvent } from '../connection.ts';
import type { HubPort } from '../hub-port.ts';
import type { Archive, WritingStatus } from '../persistence.ts';
import type { HourlyCopy } from './hourly-copy.ts';
import type { LeftOut, OpenedStored, Written } from './thread/values/values-messages.ts';

/** The maximum time that `flush` waits for changes to be written, in milliseconds. */
const flushDeadlineMs = 2000;
/**
 * The maximum time that a database stays open for its readers when the keeper ends, in milliseconds. The last process to close a database
 * empties the write-ahead log, which a reader cannot do.
 */
const readersDeadlineMs = 500;
/** The pauses, in milliseconds, between attempts to open or write a database after a failure. */
const againTimes = { firstMs: 500, longestMs: 5000 };
/** The maximum number of losses, counting back from the newest, that the state contains. */
const shownLosses = 5;

export interface KeeperOptions {
  readonly hub: HubPort;
  readonly scheduler: SchedulerLike;
  /** The thread that writes to the database. */
  readonly writer: { end(): Promise<void> };
  /** Makes hourly copies of the database; undefined if no copies are made. */
  readonly copy?: HourlyCopy;
  /** Resolves when the readers of the database have ended. Called when the keeper ends. */
  readersEnded?(): Promise<unknown>;
}

/**
 * Returns the pause between two writes, in milliseconds, for data that must be on disk within half a second. Because each write has a fixed
 * cost, the pause is twice as long after a write of many rows.
 */
export function tickAfter(rows: number): number {
  return rows < muchRows ? quickTickMs : slowTickMs;
}

const muchRows = 50;
const quickTickMs = 100;
const slowTickMs = 200;

/** The result of a write: `more` if more data is waiting, `all` if all data was written, `nothing` if there was nothing to write. */
export type Wrote = 'more' | 'all' | 'nothing';

export abstract class Keeper {
  protected readonly leftOut: LeftOutCount;
  protected readonly rate = new RowRate();
  protected readonly pause: Pause;
  protected readonly disk: SlowDisk;
  /** The subscriptions to the hub, which last until the keeper ends. */
  protected readonly listening = new Subscription();
  protected isOpen = false;
  protected isEnding = false;
  /** The reason why nothing can currently be written; undefined if writing is possible. */
  protected trouble: string | undefined;
  /** The time of the oldest row in the database, in milliseconds since 1970; undefined if unknown. */
  protected oldest: number | undefined;
  readonly #what: string;
  readonly #options: KeeperOptions;
  readonly #state: StateReporter;
  readonly #backoff = new Backoff(againTimes);
  /** The losses since the connection was started, one sentence each. */
  #losses: readonly string[] = [];
  /** The functions to call when all changes so far have been written. */
  #flushing: (() => void)[] = [];
  /** The time at which all data had last been written, on the connection's clock. */
  #caughtUpAt: number;

  /** `what` names the rows in messages, such as `entries`. */
  constructor(what: string, options: KeeperOptions, report: (event: ConnectionEvent) => void) {
    this.#what = what;
    this.#options = options;
    this.#state = new StateReporter(report);
    this.leftOut = new LeftOutCount(what);
    this.disk = new SlowDisk(options.scheduler, () => this.reportState());
    this.pause = new Pause(options.scheduler);
    this.#caughtUpAt = options.scheduler.now();
  }

  /** What the keeper offers to the rest of the hub. */
  abstract readonly archive: Archive;
  /** The interval between two writes, in milliseconds. */
  protected abstract readonly tickMs: number;
  /** The number of rows lost since the start. */
  protected abstract readonly lost: number;
  /** Whether data is waiting to be written. */
  protected abstract readonly isBehind: boolean;
  /** Returns one sentence per fault, except write faults. */
  protected abstract reasons(): readonly (string | undefined)[];
  /** Opens the database, and reports the result with `noteOpened`. */
  protected abstract open(): Promise<void>;
  /** Writes the next batch; `isLast` means that no further batch follows. */
  protected abstract write(isLast: boolean): Promise<Wrote>;

  status(): WritingStatus {
    const now = this.#options.scheduler.now();
    const lagMs = this.isBehind ? now - this.#caughtUpAt : 0;
    return { perSecond: this.rate.perSecond(now), lagMs, lost: this.lost, oldest: this.oldest };
  }

  async flush(): Promise<void> {
    if (this.isEnding || this.trouble !== undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#flushing.push(resolve);
    this.pause.wake();
    await within(promise, flushDeadlineMs, this.#options.scheduler);
  }

  /** Opens the database and writes to it until `end` is called. Rejects if the thread has ended. */
  async keep(): Promise<void> {
    const { scheduler, copy, hub } = this.#options;
    const happens$ = merge(hub.changes$, hub.persistence.auditEvents$);
    while (!this.isEnding) {
      const startedAt = scheduler.now();
      if (!this.isOpen) await this.open();
      const wrote = await this.#writeOnce();
      if (this.isOpen && copy?.isDue(scheduler.now())) void this.#makeCopy(copy);
      this.reportState();
      const isUrgent = wrote === 'more' || this.#flushing.length > 0;
      if (this.isEnding) break;
      if (this.trouble !== undefined) await this.pause.for(startedAt + this.#backoff.next() - scheduler.now());
      else if (wrote === 'nothing' && !isUrgent && !this.isBehind)
        await this.pause.until(afterNext(happens$, this.tickMs, scheduler));
      else await this.pause.for(isUrgent ? 0 : startedAt + this.tickMs - scheduler.now());
    }
  }

  /** Writes all waiting data and ends the thread. `kept` is the promise from `keep`. */
  async end(kept: Promise<unknown>): Promise<void> {
    this.listening.unsubscribe();
    this.isEnding = true;
    this.pause.wake();
    await kept;
    const { copy, readersEnded, writer } = this.#options;
    try {
      while (this.isOpen && (await this.write(true)) === 'more');
    } finally {
      for (const resolve of this.#flushing) resolve();
      await within(Promise.allSettled([copy?.end(), readersEnded?.()]), readersDeadlineMs);
      await writer.end();
    }
  }

  /** Notes the result of opening the database: its losses, and whether it can be written. */
  protected noteOpened({ losses, reason, copyAgeMs }: Omit<OpenedStored<unknown>, 'held'>): void {
    this.noteLosses(losses);
    this.noteTrouble(reason);
    this.isOpen = reason === undefined;
    if (this.isOpen) this.#options.copy?.plan(this.#options.scheduler.now(), copyAgeMs);
    this.reportState();
  }

  protected noteLosses(losses: readonly string[]): void {
    this.#losses = [...this.#losses, ...losses].slice(-shownLosses);
  }

  protected noteTrouble(trouble: string | undefined): void {
    this.trouble = trouble;
    if (trouble === undefined) this.#backoff.reset();
  }

  /** Waits until a batch has been written or the write has failed; notes and returns the result. */
  protected async commit(writing: Promise<Written>): Promise<Written> {
    const written = await this.disk.watch(writing);
    if (written.state === 'written') {
      this.noteTrouble(undefined);
      this.leftOut.add(written.leftOut);
    } else {
      this.noteTrouble(`${this.#what} are not written: ${written.reason}`);
      if (written.state !== 'full') this.openAnew(written.state === 'damaged');
    }
    return written;
  }

  /** Marks the database as closed, so that it is opened again. */
  protected openAnew(_isDamaged: boolean): void {
    this.isOpen = false;
  }

  protected reportState(): void {
    if (this.isEnding) return;
    const lag = this.disk.describeLag(this.#what);
    this.#state.set(
      this.trouble,
      ...this.reasons(),
      lag,
      this.leftOut.text,
      this.#options.copy?.trouble,
      ...this.#losses,
    );
  }

  async #writeOnce(): Promise<Wrote> {
    const flushing = this.#flushing.splice(0);
    const now = this.#options.scheduler.now();
    const wrote = this.isOpen && !this.isEnding ? await this.write(false) : 'all';
    if (wrote === 'more') this.#flushing.push(...flushing);
    else {
      if (this.isOpen && this.trouble === undefined) this.#caughtUpAt = now;
      for (const resolve of flushing) resolve();
    }
    return wrote;
  }

  async #makeCopy(copy: HourlyCopy): Promise<void> {
    const { state } = await copy.make(() => this.#options.scheduler.now());
    if (state === 'damaged') this.openAnew(true);
  }
}

/**
 * Runs a keeper until the subscriber unsubscribes. Emits the keeper's state whenever the state changes. Cold; errors if the thread has
 * ended. `finish` waits for the last write.
 */
export function runKeeper(
  create: (report: (event: ConnectionEvent) => void) => Keeper,
  hub: HubPort,
  finish: (work: Promise<unknown>) => void,
): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const keeper = create((event) => subscriber.next(event));
    const kept = keeper.keep().catch((error) => subscriber.error(error));
    const withdraw = hub.persistence.offer(keeper.archive);
    return () => {
      withdraw();
      finish(keeper.end(kept));
    };
  });
}

// Detects a slow disk: the state shows the lag during a slow commit and for a while afterwards.

/**
 * The duration of a commit above which the disk counts as slow, in milliseconds: changes may then take more than half a second to reach the
 * disk.
 */
const slowMs = 300;
/** The time after the last slow commit from which the disk counts as recovered, in milliseconds. */
const recoveredMs = 2000;
const reportEveryMs = 1000;

class SlowDisk {
  readonly #scheduler: SchedulerLike;
  readonly #report: () => void;
  #last: { readonly ms: number; readonly at: number } | undefined;

  /** `report` is called whenever the lag has changed. */
  constructor(scheduler: SchedulerLike, report: () => void) {
    this.#scheduler = scheduler;
    this.#report = report;
  }

  /** Returns a sentence with the lag of the last slow commit; undefined if the disk is not slow. `what` names the rows. */
  describeLag(what: string): string | undefined {
    if (this.#last !== undefined && this.#scheduler.now() - this.#last.at > recoveredMs) this.#last = undefined;
    return this.#last && `${what} are written with a lag of ${this.#last.ms} ms: the disk is slow`;
  }

  /** Measures the duration of a commit, and resolves to its result. Errors: any error from the commit. */
  async watch<Result>(commit: Promise<Result>): Promise<Result> {
    const startedAt = this.#scheduler.now();
    const note = () => {
      const now = this.#scheduler.now();
      this.#last = { ms: Math.round(now - startedAt), at: now };
      this.#report();
    };
    const reporting = this.#scheduler.schedule(function () {
      note();
      this.schedule(undefined, reportEveryMs);
    }, slowMs);
    try {
      return await commit;
    } finally {
      reporting.unsubscribe();
      if (this.#scheduler.now() - startedAt > slowMs) note();
    }
  }
}

// The state of one part of the store or of all parts, which is reported whenever it changes.

export class StateReporter {
  readonly #report: (event: ConnectionEvent) => void;
  #reported: string | undefined;

  constructor(report: (event: ConnectionEvent) => void) {
    this.#report = report;
  }

  /**
   * Sets the faults, one sentence each, and reports the state if it has changed. An undefined argument stands for a fault that does not
   * exist.
   */
  set(...reasons: readonly (string | undefined)[]): void {
    const reason = reasons.filter((text) => text !== undefined).join('; ');
    if (reason === this.#reported) return;
    this.#reported = reason;
    this.#report(reason === '' ? { state: 'running' } : { state: 'degraded', reason });
  }
}

// A store that has nothing to write sleeps until something happens, so that an idle hub remains idle.

/** The maximum sleep, in milliseconds, after which the store finds changes that arrived without an event. */
const idleMs = 200;

/**
 * Returns an argument for `Pause.until`, which resolves `delayMs` after the next event. Only a single event is awaited, so that frequent
 * events cost nothing.
 */
function afterNext(happens$: Observable<unknown>, delayMs: number, scheduler: SchedulerLike) {
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

// Counts the rows that a database has refused. The message names the first refused row.

class LeftOutCount {
  readonly #what: string;
  /** The number of rows refused so far. */
  count = 0;
  /** The message for operators; undefined if no row was refused. */
  text: string | undefined;

  /** `what` names the rows in messages, such as `entries`. */
  constructor(what: string) {
    this.#what = what;
  }

  add(leftOut: LeftOut | undefined): void {
    if (leftOut === undefined) return;
    this.count += leftOut.count;
    this.text ??= `skipped ${this.#what} that the database rejects, starting with ${leftOut.first}`;
  }
}

// Measures the number of rows written per second, averaged over the last ten seconds.

const spanSeconds = 10;

class RowRate {
  /** The number of rows written in each second, modulo the length of the period. */
  readonly #rows = new Array<number>(spanSeconds).fill(0);
  #second = 0;

  /** Counts rows that were written at `nowMs`, which never decreases. */
  add(nowMs: number, rows: number): void {
    this.#rows[this.#moveTo(nowMs) % spanSeconds]! += rows;
  }

  perSecond(nowMs: number): number {
    this.#moveTo(nowMs);
    return this.#rows.reduce((sum, rows) => sum + rows, 0) / spanSeconds;
  }

  /** Clears the counts of the seconds since the last call, up to the whole period; returns the current second. */
  #moveTo(nowMs: number): number {
    const second = Math.floor(nowMs / 1000);
    for (let passed = Math.max(this.#second, second - spanSeconds) + 1; passed <= second; passed++)
      this.#rows[passed % spanSeconds] = 0;
    this.#second = second;
    return second;
  }
}
