// Keeps on the disk who did what, and the log: 100 ms after something has happened what has come since is written in one
// transaction. While it cannot be written it waits, up to a bound.
import { randomUUID } from 'node:crypto';
import { defer, merge, Observable, type SchedulerLike, type Subscription } from 'rxjs';
import type { Parameter } from '../../../model/parameter.ts';
import type { LogEntry, LogPage } from '../../../model/reports/log-entry.ts';
import { Backoff } from '../../../model/time/backoff.ts';
import { within } from '../../../model/time/deadline.ts';
import { Pause } from '../../../model/time/wall-clock.ts';
import type { ConnectionContext, ConnectionEvent } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { KeptLog, RecordedArchive, WritingStatus } from '../../keeping.ts';
import { HourlyCopy } from '../hourly-copy.ts';
import {
  afterNext,
  againTimes,
  awaitReaders,
  flushDeadlineMs,
  LeftOutCount,
  RowRate,
  SlowDisk,
  ToldState,
} from '../keeper.ts';
import { buffersOf, packRows } from '../packed-rows.ts';
import type { Part } from '../parts.ts';
import { createSelection } from '../selection.ts';
import { roomOf, type StoreSettings } from '../settings.ts';
import { StoreThread } from '../store-thread.ts';
import { filesOf } from '../thread/database/files.ts';
import type {
  AuditAnswer,
  AuditBatch,
  AuditRequest,
  AuditRow,
  HeldAudit,
  OpenAudit,
  OpenedAudit,
} from './audit-messages.ts';
import { AuditQueue } from './audit-queue.ts';
import { cellsOf, rowOfDeed, rowOfStart } from './audit-tables.ts';

/** How often entries are written. */
const tickMs = 100;
/** How often it is written that the hub still runs, when nothing else is. */
const seenEveryMs = 60_000;
/** How many sentences about losses are shown. */
const shownLosses = 5;

interface KeepAuditOptions {
  readonly hub: HubPort;
  readonly writer: AuditWriter;
  readonly copy: HourlyCopy;
  readonly scheduler: SchedulerLike;
  /** What the first opening comes to, where it is that of a start of the hub. */
  readonly opened: Promise<OpenedAudit> | undefined;
  readonly isSelected: (address: string) => boolean;
  /** Opens the database; `isSuspect`: somebody has found damage in it. */
  open(isSuspect: boolean): Promise<OpenedAudit>;
  /** Resolves when nobody reads the database any more; asked at the end. */
  readersEnded(): Promise<unknown>;
  /** Takes over the last write when unsubscribed. */
  finish(work: Promise<unknown>): void;
}

/** Writes until it is unsubscribed; emits the state whenever it changes. Cold; errs when the thread has ended. */
function keepAudit(options: KeepAuditOptions): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const keeper = new AuditKeeper(options, (event) => subscriber.next(event));
    const kept = keeper.keep().catch((error) => subscriber.error(error));
    const withdraw = options.hub.keeping.offer({ audit: keeper });
    return () => {
      withdraw();
      options.finish(keeper.end(kept));
    };
  });
}

class AuditKeeper implements RecordedArchive {
  readonly #options: KeepAuditOptions;
  readonly #state: ToldState;
  readonly #queue = new AuditQueue();
  readonly #place = new LogPlace();
  readonly #backoff = new Backoff(againTimes);
  readonly #rate = new RowRate();
  readonly #disk: SlowDisk;
  readonly #listening: Subscription;
  /** Entries that were taken from the queue and are not on the disk. */
  #pending: readonly AuditRow[] = [];
  /** What was lost; shown until the connection is started anew. */
  #losses: readonly string[] = [];
  readonly #leftOut = new LeftOutCount('entries');
  /** Why nothing is written at the moment. */
  #trouble: string | undefined;
  /** When the last batch was written, and when nothing waited last, on the clock of the connection. */
  #seenAt = Number.NEGATIVE_INFINITY;
  #caughtUpAt: number;
  /** The time of the oldest entry. */
  #oldest: number | undefined;
  #isOpen = false;
  /** Whether there was nothing to write. */
  #isIdle = false;
  /** Whether the hub has just started, and not only this connection. */
  #isStart: boolean;
  /** Whether somebody has found damage in the database. */
  #isSuspect = false;
  /** Whether the hub ends, and not only this connection. */
  #isHubEnding = false;
  #isEnding = false;
  /** Who waits until what has come up to now is written. */
  #flushing: (() => void)[] = [];
  readonly #pause: Pause;
  readonly #happens$: Observable<unknown>;

  constructor(options: KeepAuditOptions, tell: (event: ConnectionEvent) => void) {
    this.#options = options;
    this.#state = new ToldState(tell);
    this.#disk = new SlowDisk(options.scheduler, () => this.#tellState());
    this.#pause = new Pause(options.scheduler);
    this.#happens$ = merge(options.hub.changes$, options.hub.keeping.deeds$);
    this.#isStart = options.opened !== undefined;
    this.#caughtUpAt = options.scheduler.now();
    this.#listening = listen(options.hub, options.isSelected, this.#queue, () => {
      this.#isHubEnding = true;
    });
  }

  status(): WritingStatus {
    const now = this.#options.scheduler.now();
    const isBehind = this.#pending.length + this.#queue.length > 0;
    return {
      perSecond: this.#rate.perSecond(now),
      lagMs: isBehind ? now - this.#caughtUpAt : 0,
      lost: this.#queue.lost + this.#leftOut.count,
      oldest: this.#oldest,
    };
  }

  async flush(): Promise<void> {
    if (this.#isEnding || this.#trouble !== undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#flushing.push(resolve);
    this.#pause.wake();
    await within(promise, flushDeadlineMs);
  }

  async check(): Promise<void> {
    this.#openAnew(true);
    this.#pause.wake();
  }

  async keep(): Promise<void> {
    const { opened, scheduler, copy } = this.#options;
    this.#tellState();
    if (opened !== undefined) this.#take(await opened);
    while (!this.#isEnding) {
      const startedAt = scheduler.now();
      if (!this.#isOpen) this.#take(await this.#options.open(this.#isSuspect));
      const flushing = this.#flushing.splice(0);
      const isBehind = this.#isOpen && (await this.#write(false));
      if (isBehind) this.#flushing.push(...flushing);
      else for (const resolve of flushing) resolve();
      if (this.#isOpen && copy.isDue(scheduler.now())) void this.#makeCopy();
      this.#tellState();
      const isIdle = this.#isIdle && this.#queue.length + this.#flushing.length === 0;
      if (isIdle && this.#trouble === undefined && !this.#isEnding) {
        await this.#pause.until(afterNext(this.#happens$, tickMs, scheduler));
        continue;
      }
      const isUrgent = this.#flushing.length > 0;
      const pauseMs = this.#trouble !== undefined ? this.#backoff.next() : isUrgent || isBehind ? 0 : tickMs;
      await this.#pause.for(startedAt + pauseMs - scheduler.now());
    }
  }

  /** Writes what has come up to now, and ends the thread. */
  async end(kept: Promise<unknown>): Promise<void> {
    this.#listening.unsubscribe();
    this.#isEnding = true;
    this.#pause.wake();
    await kept;
    try {
      while (this.#isOpen && (await this.#write(true)));
    } finally {
      for (const resolve of this.#flushing) resolve();
      await awaitReaders(this.#options.copy.end(), this.#options.readersEnded());
      await this.#options.writer.end();
    }
  }

  async #makeCopy(): Promise<void> {
    const { state } = await this.#options.copy.make(() => this.#options.scheduler.now());
    if (state === 'damaged') this.#openAnew(true);
  }

  /** Has the database opened again, and checked where it is suspect. */
  #openAnew(isSuspect: boolean): void {
    this.#isOpen = false;
    this.#isSuspect ||= isSuspect;
  }

  #take({ losses, reason, copyAgeMs, held }: OpenedAudit): void {
    const { hub, copy, scheduler } = this.#options;
    this.#losses = [...this.#losses, ...losses].slice(-shownLosses);
    this.#isOpen = reason === undefined;
    this.#trouble = reason;
    if (this.#isOpen) {
      this.#isSuspect = false;
      this.#backoff.reset();
      this.#queue.startAfter(held?.lastEntry ?? 0);
      this.#place.find(held, hub.log(0, 'error').count);
      if (this.#isStart) this.#queue.addFirst(rowOfStart(hub, held, losses.length > 0));
      this.#isStart = false;
      copy.plan(scheduler.now(), copyAgeMs);
    }
    this.#tellState();
  }

  /** Writes one batch; returns whether there is more to write at once. */
  async #write(isLast: boolean): Promise<boolean> {
    const { hub, writer } = this.#options;
    if (this.#pending.length === 0) this.#pending = this.#queue.take();
    const page = hub.log(this.#place.after, 'info');
    const log = this.#place.place(page);
    const isBehind = this.#queue.length > 0;
    const isClean = isLast && !isBehind && this.#isHubEnding;
    const now = this.#options.scheduler.now();
    this.#isIdle = this.#pending.length + log.length === 0 && !isClean && now - this.#seenAt < seenEveryMs;
    if (this.#isIdle) {
      this.#caughtUpAt = now;
      return false;
    }
    const batch = { rows: this.#pending, log, run: { seen: Date.now(), isClean, count: this.#place.count } };
    const { written, oldest } = await this.#disk.watch(writer.write(batch));
    this.#trouble = written.state === 'written' ? undefined : `entries are not written: ${written.reason}`;
    if (written.state !== 'written') {
      if (written.state !== 'full') this.#openAnew(written.state === 'damaged');
      return false;
    }
    this.#backoff.reset();
    this.#leftOut.add(written.leftOut);
    this.#rate.add(this.#options.scheduler.now(), batch.rows.length);
    this.#oldest = oldest;
    this.#pending = [];
    this.#place.written(page);
    this.#seenAt = now;
    if (!isBehind) this.#caughtUpAt = now;
    return isBehind;
  }

  #tellState(): void {
    if (this.#isEnding) return;
    const { lost } = this.#queue;
    const losing = lost > 0 ? `${lost} entries were lost: more came than could be written` : undefined;
    const lag = this.#disk.describeLag('entries');
    this.#state.set(this.#trouble, lag, losing, this.#leftOut.text, this.#options.copy.trouble, ...this.#losses);
  }
}

// Hears what the audit is about: changes that come from outside, and what is done with the hub itself.

/** Puts all of it into the queue until it is unsubscribed; `onHubEnd` is called when the hub begins to end. */
function listen(
  { changes$, keeping }: Pick<HubPort, 'changes$' | 'keeping'>,
  isSelected: (address: string) => boolean,
  queue: AuditQueue,
  onHubEnd: () => void,
): Subscription {
  const known = new WeakMap<Parameter, boolean>();
  const isNoted = (parameter: Parameter): boolean => {
    let isNoted = known.get(parameter);
    if (isNoted === undefined) {
      isNoted = isSelected(parameter.address);
      known.set(parameter, isNoted);
    }
    return isNoted;
  };
  const listening = changes$.subscribe((change) => {
    if (keeping.isFromOutside(change) && isNoted(change.parameter)) queue.addChange(change);
  });
  listening.add(
    keeping.deeds$.subscribe((deed) => {
      if (deed.kind === 'stop') onHubEnd();
      queue.add(rowOfDeed(deed, Date.now()));
    }),
  );
  return listening;
}

// How far the log is on the disk. Its numbers there are those of the hub, unless the hub counts otherwise than the database: a
// store that is added while the hub runs on finds the log of an earlier run.

class LogPlace {
  /** The hub's number of the newest entry that is on the disk. */
  #written = 0;
  /** What is added to a number of the hub. */
  #offset = 0;
  /** The name of the count in the database. */
  #count = '';

  /** The number after which the hub is to be asked for entries. */
  get after(): number {
    return this.#written;
  }

  get count(): string {
    return this.#count;
  }

  /** Finds the place in a database that was opened; `hubCount` is the name of the count of the hub. */
  find(held: HeldAudit | undefined, hubCount: string): void {
    const { lastLog = 0, run } = held ?? {};
    if (lastLog === 0 || run?.count === hubCount) {
      this.#offset = 0;
      this.#count = hubCount;
    } else if (this.#count === '' || run?.count !== this.#count) {
      this.#offset = lastLog;
      this.#count = randomUUID();
    }
    this.#written = Math.max(0, lastLog - this.#offset);
  }

  /** The entries as they are to be written. */
  place({ entries }: LogPage): readonly LogEntry[] {
    return this.#offset === 0 ? entries : entries.map((entry) => ({ ...entry, n: entry.n + this.#offset }));
  }

  written({ next }: LogPage): void {
    this.#written = next;
  }
}

// The audit as a part of the store.

/** How long those who read the log wait for that of earlier runs. */
const logDeadlineMs = 5000;

type Context = Pick<ConnectionContext<StoreSettings>, 'settings' | 'resolvePath' | 'scheduler' | 'finish'>;
type OpenContext = Pick<Context, 'settings' | 'resolvePath'>;

/** A database that was opened for the start of the hub, until the connection runs. */
export interface OpenedForStart {
  readonly writer: AuditWriter;
  /** Resolves after `log` has. */
  readonly opened: Promise<OpenedAudit>;
  /** The log of earlier runs; undefined: there is none, or it cannot be read in time. */
  readonly log: Promise<KeptLog | undefined>;
}

/** Opens the database for a start of the hub. */
export function openForStart(context: OpenContext): OpenedForStart {
  const writer = new AuditWriter();
  const opening = writer.open(requestOf(context, { isRead: true, isSuspect: false }));
  const log = within(
    opening.catch(() => undefined),
    logDeadlineMs,
  ).then((opened) => opened?.held?.log);
  const opened = log.then(() => opening);
  opened.catch(() => {}); // the connection tells it when it runs
  return { writer, opened, log };
}

/** Notes who did what, and keeps the log. */
export function auditOf(
  context: Context,
  hub: HubPort,
  opened: OpenedForStart | undefined,
  readersEnded: () => Promise<unknown>,
): Part {
  const { settings, resolvePath, scheduler, finish } = context;
  let first = opened;
  return defer(() => {
    const { opened } = first ?? {};
    const writer = first?.writer ?? new AuditWriter();
    first = undefined;
    return keepAudit({
      hub,
      writer,
      copy: new HourlyCopy(filesOf(resolvePath(settings.folder), 'audit')),
      scheduler,
      opened,
      isSelected: createSelection(settings.audit),
      open: (isSuspect) => writer.open(requestOf(context, { isRead: false, isSuspect })),
      readersEnded,
      finish,
    });
  });
}

function requestOf({ settings, resolvePath }: OpenContext, how: { isRead: boolean; isSuspect: boolean }) {
  const { folder, maxSize, audit } = settings;
  return { folder: resolvePath(folder), maxBytes: roomOf(maxSize).auditBytes, keepMs: audit.keep, ...how };
}

// The thread that writes the audit and the log, seen from the hub's.

type WrittenAnswer = Extract<AuditAnswer, { readonly written: unknown }>;

export class AuditWriter {
  readonly #thread = new StoreThread<AuditRequest, AuditAnswer>('audit-thread', 'writes the audit');

  /** Opens the database, whatever has become of it. Errors: when the thread has ended. */
  async open(request: Omit<OpenAudit, 'ask'>): Promise<OpenedAudit> {
    return ((await this.#thread.ask({ ask: 'open', ...request })) as { opened: OpenedAudit }).opened;
  }

  /** Writes a batch; when it resolves as written, it is on the disk. Errors: when the thread has ended. */
  async write(batch: AuditBatch): Promise<WrittenAnswer> {
    const rows = packRows(batch.rows.map(cellsOf));
    return (await this.#thread.ask({ ask: 'write', batch: { ...batch, rows } }, buffersOf(rows))) as WrittenAnswer;
  }

  /** Closes the database and ends the thread. */
  async end(): Promise<void> {
    await this.#thread.ask({ ask: 'close' }).catch(() => {});
    await this.#thread.end();
  }
}
