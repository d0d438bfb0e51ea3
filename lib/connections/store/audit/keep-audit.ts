// Writes the audit and the log to disk: 100 ms after an event, one transaction writes all new entries. If the disk fails, a limited number
// of entries waits.

import { randomUUID } from 'node:crypto';
import { setImmediate as nextRound } from 'node:timers/promises';
import type { Subscription } from 'rxjs';
import { counted } from '../../../model/digits.ts';
import type { Change, Parameter } from '../../../model/parameter.ts';
import type { LogEntry, LogPage } from '../../../model/reports/log-entry.ts';
import { within } from '../../../model/time/deadline.ts';
import type { ConnectionContext, ConnectionEvent } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { Archive, KeptLog, RecordedArchive } from '../../persistence.ts';
import { HourlyCopy } from '../hourly-copy.ts';
import { Keeper, type KeeperOptions, runKeeper, tickAfter, type Wrote } from '../keeper.ts';
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
  PackedAuditBatch,
} from './audit-messages.ts';
import { AuditQueue } from './audit-queue.ts';
import { cellsOf, rowOfEvent, rowOfStart } from './audit-tables.ts';
import { packEntries } from './entry-blocks.ts';

/** The interval at which the database records that the hub is still running if nothing else is written, in milliseconds. */
const seenEveryMs = 60_000;

interface AuditOptions extends KeeperOptions {
  readonly writer: AuditWriter;
  readonly isSelected: (address: string) => boolean;
  readonly request: Omit<OpenAudit, 'ask'>;
}

class AuditKeeper extends Keeper implements RecordedArchive {
  readonly archive: Archive = { audit: this };
  readonly #options: AuditOptions;
  readonly #queue = new AuditQueue();
  readonly #place = new LogPlace();
  #opened: Promise<OpenedAudit> | undefined;
  /** Entries that have been taken from the queue but are not on disk yet. */
  #pending: readonly AuditRow[] = [];
  /** The number of entries in the last batch, which determines the pause before the next batch. */
  #lastRows = 0;
  /** The time at which the last batch was written, on the connection's clock. */
  #seenAt = Number.NEGATIVE_INFINITY;
  /** Whether the whole hub has just started, rather than only this connection. */
  #isStart: boolean;
  /** Whether a reader has found damage in the database, which is then checked when it is reopened. */
  #isSuspect = false;
  /** Whether the whole hub is shutting down, rather than only this connection. */
  #isHubEnding = false;

  /** `opened` is the result of opening the database during the start of the hub; undefined if the database was not opened then. */
  constructor(
    options: AuditOptions,
    opened: Promise<OpenedAudit> | undefined,
    report: (event: ConnectionEvent) => void,
  ) {
    super('entries', options, report);
    this.#options = options;
    this.#opened = opened;
    this.#isStart = opened !== undefined;
    const onHubEnd = () => {
      this.#isHubEnding = true;
    };
    this.listening.add(listenForEntries(options.hub, options.isSelected, this.#queue, onHubEnd));
    this.reportState(); // opening a large file takes longer than the start of the hub should take
  }

  protected get tickMs(): number {
    return tickAfter(this.#lastRows);
  }

  protected get lost(): number {
    return this.#queue.lost + this.leftOut.count;
  }

  protected get isBehind(): boolean {
    return this.#pending.length + this.#queue.length > 0;
  }

  async check(): Promise<void> {
    this.openAnew(true);
    this.pause.wake();
  }

  protected reasons() {
    const { lost } = this.#queue;
    return [
      lost > 0
        ? `lost ${counted(lost, 'entry', 'entries')}, which arrived faster than they could be written`
        : undefined,
    ];
  }

  protected async open(): Promise<void> {
    const { hub, writer, request } = this.#options;
    const opened = await (this.#opened ?? writer.open({ ...request, isSuspect: this.#isSuspect }));
    this.#opened = undefined;
    this.noteOpened(opened);
    if (!this.isOpen) return;
    const { held, losses } = opened;
    this.#isSuspect = false;
    this.#queue.startAfter(held?.lastEntry ?? 0);
    this.#place.find(held, hub.log(0, 'error').count);
    if (this.#isStart) this.#queue.addFirst(rowOfStart(hub, held, losses.length > 0));
    this.#isStart = false;
  }

  protected override openAnew(isDamaged: boolean): void {
    super.openAnew(isDamaged);
    this.#isSuspect ||= isDamaged;
  }

  protected async write(isLast: boolean): Promise<Wrote> {
    const { hub, writer, scheduler } = this.#options;
    if (this.#pending.length === 0) this.#pending = this.#queue.take();
    const rows = this.#pending;
    const page = hub.log(this.#place.after, 'info');
    const log = this.#place.place(page);
    const isBehind = this.#queue.length > 0;
    const isClean = isLast && !isBehind && this.#isHubEnding;
    const now = scheduler.now();
    this.#lastRows = rows.length;
    if (rows.length + log.length === 0 && !isClean && now - this.#seenAt < seenEveryMs) return 'nothing';
    const writing = writer.write({ rows, log, run: { seen: Date.now(), isClean, count: this.#place.count } });
    const written = await this.commit(writing.then(({ written }) => written));
    if (written.state !== 'written') return 'all';
    this.rate.add(scheduler.now(), rows.length);
    this.oldest = (await writing).oldest;
    this.#pending = [];
    this.#place.written(page);
    this.#seenAt = now;
    return isBehind ? 'more' : 'all';
  }
}

/**
 * Queues changes from outside and audit events until the returned subscription ends. `onHubEnd` is called when the hub begins to shut down.
 */
export function listenForEntries(
  { changes$, wanted$, persistence }: Pick<HubPort, 'changes$' | 'wanted$' | 'persistence'>,
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
  const note = (change: Change) => {
    if (persistence.isFromOutside(change) && isNoted(change.parameter)) queue.addChange(change);
  };
  const listening = changes$.subscribe(note);
  listening.add(wanted$.subscribe({ next: note, error: () => {} })); // the device confirms with its own change, from inside
  listening.add(
    persistence.auditEvents$.subscribe((auditEvent) => {
      if (auditEvent.kind === 'stop') onHubEnd();
      queue.add(rowOfEvent(auditEvent, Date.now()));
    }),
  );
  return listening;
}

// Tracks how much of the log is on disk. Entries have the same numbers in the database as in the hub, unless the two numberings differ: a
// store that is added to a running hub finds the log of an earlier run.

class LogPlace {
  /** The number that the newest log entry on disk has in the hub. */
  #written = 0;
  /** The number of a log entry in the database minus its number in the hub. */
  #offset = 0;
  /** Identifies the numbering of the log entries in the database. */
  #count = '';

  /** The number, in the hub, after which log entries still have to be written. */
  get after(): number {
    return this.#written;
  }

  get count(): string {
    return this.#count;
  }

  /** Determines from an opened database how much of the log is on disk. `hubCount` identifies the hub's numbering of log entries. */
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

  /** Returns the log entries in a page with their numbers in the database. */
  place({ entries }: LogPage): readonly LogEntry[] {
    return this.#offset === 0 ? entries : entries.map((entry) => ({ ...entry, n: entry.n + this.#offset }));
  }

  written({ next }: LogPage): void {
    this.#written = next;
  }
}

// The part of the store that keeps the audit

/** The maximum time that a reader of the log waits for entries from earlier runs, in milliseconds. */
const logDeadlineMs = 5000;

type Context = Pick<ConnectionContext<StoreSettings>, 'settings' | 'resolvePath' | 'scheduler' | 'finish'>;
type OpenContext = Pick<Context, 'settings' | 'resolvePath'>;

/** The audit database as opened during the start of the hub, before the connection is running. */
export interface OpenedLog {
  readonly writer: AuditWriter;
  /** Resolves later than `log`. */
  readonly opened: Promise<OpenedAudit>;
  /** The log from earlier runs; undefined if there is no log or it could not be read in time. */
  readonly log: Promise<KeptLog | undefined>;
}

/**
 * Opens the audit database only once the hub is serving clients, so that opening it does not delay the start. The database thread starts
 * immediately.
 */
export function openAudit(context: OpenContext): OpenedLog {
  const writer = new AuditWriter();
  writer.start();
  const opening = nextRound().then(() => writer.open(requestOf(context, true)));
  const log = within(
    opening.catch(() => undefined),
    logDeadlineMs,
  ).then((opened) => opened?.held?.log);
  const opened = log.then(() => opening);
  opened.catch(() => {}); // the connection reports the error as soon as it is running
  return { writer, opened, log };
}

/** Creates the part of a store that keeps the audit and the log. */
export function auditOf(
  context: Context,
  hub: HubPort,
  opened: OpenedLog | undefined,
  readersEnded: () => Promise<unknown>,
): Part {
  const { settings, resolvePath, scheduler, finish } = context;
  let first = opened;
  return runKeeper(
    (report) => {
      const { writer = new AuditWriter(), opened } = first ?? {};
      first = undefined;
      const copy = new HourlyCopy(filesOf(resolvePath(settings.folder), 'audit'));
      const isSelected = createSelection(settings.audit);
      const request = requestOf(context, false);
      return new AuditKeeper({ hub, writer, copy, scheduler, isSelected, request, readersEnded }, opened, report);
    },
    hub,
    finish,
  );
}

function requestOf({ settings, resolvePath }: OpenContext, isRead: boolean) {
  const { folder, maxSize, audit } = settings;
  const maxBytes = roomOf(maxSize).auditBytes;
  return { folder: resolvePath(folder), maxBytes, keepMs: audit.keep, isRead, isSuspect: false };
}

// The hub's side of the thread that writes the audit and the log.

/** Packs a batch for the thread; also returns the buffers to transfer. */
export function packAudit(batch: AuditBatch): { readonly packed: PackedAuditBatch; readonly transfer: ArrayBuffer[] } {
  const { rows: single, blocks } = packEntries(batch.rows);
  const rows = packRows(single.map(cellsOf));
  return {
    packed: { ...batch, rows, blocks },
    transfer: [...buffersOf(rows), ...blocks.map(({ entries }) => entries.buffer)],
  };
}

type WrittenAnswer = Extract<AuditAnswer, { readonly written: unknown }>;

export class AuditWriter {
  readonly #thread = new StoreThread<AuditRequest, AuditAnswer>('audit-thread', 'writing the audit');

  /** Starts the thread ahead of the first request, see `StoreThread.start`. */
  start(): void {
    this.#thread.start();
  }

  /** Opens the database, even if it is damaged. Rejects if the thread has ended. */
  async open(request: Omit<OpenAudit, 'ask'>): Promise<OpenedAudit> {
    return ((await this.#thread.ask({ ask: 'open', ...request })) as { opened: OpenedAudit }).opened;
  }

  /** Writes a batch. Resolves as soon as the batch is on disk or the write has failed. Rejects if the thread has ended. */
  async write(batch: AuditBatch): Promise<WrittenAnswer> {
    const { packed, transfer } = packAudit(batch);
    return (await this.#thread.ask({ ask: 'write', batch: packed }, transfer)) as WrittenAnswer;
  }

  /** Closes the database and ends the thread. */
  end(): Promise<void> {
    return this.#thread.end({ ask: 'close' });
  }
}
