// Keeps on the disk who did what, and the log: 100 ms after something has happened what has come since is written in one
// transaction. While it cannot be written it waits, up to a bound.
import { randomUUID } from 'node:crypto';
import type { Subscription } from 'rxjs';
import type { Parameter } from '../../../model/parameter.ts';
import type { LogEntry, LogPage } from '../../../model/reports/log-entry.ts';
import { within } from '../../../model/time/deadline.ts';
import type { ConnectionContext, ConnectionEvent } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { Archive, KeptLog, RecordedArchive } from '../../persistence.ts';
import { HourlyCopy } from '../hourly-copy.ts';
import { Keeper, type KeeperOptions, runKeeper, type Wrote } from '../keeper.ts';
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
import { cellsOf, rowOfEvent, rowOfStart } from './audit-tables.ts';

/** How often it is written that the hub still runs, when nothing else is. */
const seenEveryMs = 60_000;

interface AuditOptions extends KeeperOptions {
  readonly writer: AuditWriter;
  /** What the first opening comes to, where it is that of a start of the hub. */
  readonly opened: Promise<OpenedAudit> | undefined;
  readonly isSelected: (address: string) => boolean;
  readonly request: Omit<OpenAudit, 'ask'>;
}

class AuditKeeper extends Keeper implements RecordedArchive {
  readonly archive: Archive = { audit: this };
  protected readonly tickMs = 100;
  readonly #options: AuditOptions;
  readonly #queue = new AuditQueue();
  readonly #place = new LogPlace();
  #opened: Promise<OpenedAudit> | undefined;
  /** Entries that were taken from the queue and are not on the disk. */
  #pending: readonly AuditRow[] = [];
  /** When the last batch was written, on the clock of the connection. */
  #seenAt = Number.NEGATIVE_INFINITY;
  /** Whether the hub has just started, and not only this connection. */
  #isStart: boolean;
  /** Whether somebody has found damage in the database. */
  #isSuspect = false;
  /** Whether the hub ends, and not only this connection. */
  #isHubEnding = false;

  constructor(options: AuditOptions, report: (event: ConnectionEvent) => void) {
    super('entries', options, report);
    this.#options = options;
    this.#opened = options.opened;
    this.#isStart = options.opened !== undefined;
    const onHubEnd = () => {
      this.#isHubEnding = true;
    };
    this.listening.add(listen(options.hub, options.isSelected, this.#queue, onHubEnd));
    this.reportState(); // to open a large file takes longer than the hub is to wait
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
    return [lost > 0 ? `${lost} entries were lost: more came than could be written` : undefined];
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

// Hears what the audit is about: changes that come from outside, and what is done with the hub itself.

/** Puts all of it into the queue until it is unsubscribed; `onHubEnd` is called when the hub begins to end. */
function listen(
  { changes$, persistence }: Pick<HubPort, 'changes$' | 'persistence'>,
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
    if (persistence.isFromOutside(change) && isNoted(change.parameter)) queue.addChange(change);
  });
  listening.add(
    persistence.auditEvents$.subscribe((auditEvent) => {
      if (auditEvent.kind === 'stop') onHubEnd();
      queue.add(rowOfEvent(auditEvent, Date.now()));
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
export interface OpenedLog {
  readonly writer: AuditWriter;
  /** Resolves after `log` has. */
  readonly opened: Promise<OpenedAudit>;
  /** The log of earlier runs; undefined: there is none, or it cannot be read in time. */
  readonly log: Promise<KeptLog | undefined>;
}

/** Opens the database for a start of the hub. */
export function openAudit(context: OpenContext): OpenedLog {
  const writer = new AuditWriter();
  const opening = writer.open(requestOf(context, true));
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
      return new AuditKeeper({ hub, writer, copy, scheduler, opened, isSelected, request, readersEnded }, report);
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
  end(): Promise<void> {
    return this.#thread.end({ ask: 'close' });
  }
}
