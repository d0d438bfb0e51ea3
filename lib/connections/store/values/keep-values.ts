// Keeps the values on the disk those of the hub: 100 ms after a change what has changed is written in one transaction. What
// cannot be written stays in the hub, which knows the newest anyhow, and is written once that is possible again.
import { Observable, type SchedulerLike, type Subscription } from 'rxjs';
import { groupDigits } from '../../../model/digits.ts';
import type { Parameter } from '../../../model/parameter.ts';
import { Backoff } from '../../../model/time/backoff.ts';
import { within } from '../../../model/time/deadline.ts';
import { Durations } from '../../../model/time/duration.ts';
import { Pause } from '../../../model/time/wall-clock.ts';
import type { ConnectionEvent, Log } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { KeepingPort, ValuesArchive, WritingStatus } from '../../keeping.ts';
import type { HourlyCopy } from '../hourly-copy.ts';
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
import type { SnapshotShelf } from '../snapshots/shelf.ts';
import type { Batch, Opened, ValueRow, Written } from '../thread/values/values-messages.ts';
import { type Gathered, gather, isDefault, LongValues, rowOf } from './gather.ts';
import { CausesWriter } from './kept-causes.ts';
import { ValueShares } from './shares.ts';
import type { ValuesWriter } from './values-writer.ts';

/** How often changes are written. */
const tickMs = 100;
/** How many values are counted at once. */
const countedAtOnce = 1000;
/** How much is written with a batch of what had no room before. */
const fittingBytes = 512 * 1024;

interface KeepValuesOptions {
  readonly hub: HubPort;
  readonly writer: ValuesWriter;
  readonly copy: HourlyCopy;
  /** The snapshots, which are written with the values. */
  readonly snapshots: SnapshotShelf;
  readonly scheduler: SchedulerLike;
  /** What the first opening comes to, where the hub has restored its values from it. */
  readonly opened: Promise<Opened> | undefined;
  readonly isSelected: (address: string) => boolean;
  /** How large the database may become. */
  readonly maxBytes: number;
  readonly log: Log;
  open(): Promise<Opened>;
  /** Is handed what the database held, whenever it is opened while the hub runs. */
  giveBack(held: Opened['held']): void;
  /** Hears whether the database is open: then the folder belongs to this hub. */
  tellOpen(isOpen: boolean): void;
  /** Takes over the last write when unsubscribed. */
  finish(work: Promise<unknown>): void;
}

/** Writes until it is unsubscribed; emits the state whenever it changes. Cold; errs when the thread has ended. */
export function keepValues(options: KeepValuesOptions): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const keeper = new ValuesKeeper(options, (event) => subscriber.next(event));
    const kept = keeper.keep().catch((error) => subscriber.error(error));
    const withdraw = options.hub.keeping.offer({ values: keeper.archive });
    return () => {
      withdraw();
      options.finish(keeper.end(kept));
    };
  });
}

class ValuesKeeper {
  readonly #options: KeepValuesOptions;
  readonly #state: ToldState;
  readonly #memories: Memories;
  readonly #causes = new CausesWriter();
  readonly #wanted = new WeakMap<Parameter, boolean>();
  readonly #backoff = new Backoff(againTimes);
  readonly #disk: SlowDisk;
  /** What was lost; shown until the connection is started anew. */
  #losses: readonly string[] = [];
  readonly #leftOut = new LeftOutCount('values');
  /** Why nothing is written at the moment. */
  #trouble: string | undefined;
  /** All changes up to this revision are on the disk. */
  #written: number;
  /** Long values that are not on the disk yet. */
  readonly #long = new LongValues();
  /** Who takes how much; undefined: there is room for all. */
  #shares: ValueShares | undefined;
  /** Values that are kept no longer, and are still on the disk. */
  #forgotten: Parameter[] = [];
  readonly #progress: Progress;
  #isOpen = false;
  /** Whether what belongs to no parameter any more has been forgotten, since something was written or a parameter was removed. */
  #hasMadeRoom = false;
  readonly #removals: Subscription;
  /** Whether there was nothing to write. */
  #isIdle = false;
  /** How often a value was refused until nobody was counted any more. */
  #refusals = 0;
  /** Who was named in the log. */
  readonly #toldRefused = new Set<string>();
  #isEnding = false;
  readonly #pause: Pause;

  constructor(options: KeepValuesOptions, tell: (event: ConnectionEvent) => void) {
    this.#options = options;
    this.#state = new ToldState(tell);
    this.#disk = new SlowDisk(options.scheduler, () => this.#tellState());
    this.#memories = new Memories(options.hub.keeping);
    this.#pause = new Pause(options.scheduler);
    this.#written = options.hub.revision;
    this.#progress = new Progress(
      options.hub,
      () => options.scheduler.now(),
      () => this.#leftOut.count + (this.#shares?.refusals ?? 0) + this.#refusals,
      (parameter) => this.#shares?.isRefused(parameter) ?? false,
    );
    this.#removals = options.hub.removed$.subscribe((parameter) => {
      this.#hasMadeRoom = false;
      this.#shares?.forget(parameter);
      this.#long.delete(parameter);
      if (this.#shares !== undefined) this.#pause.wake();
    });
  }

  get archive(): ValuesArchive {
    return this.#progress;
  }

  async keep(): Promise<void> {
    const { opened, scheduler, hub } = this.#options;
    if (opened === undefined) this.#renew();
    else this.#take(await opened);
    while (!this.#isEnding) {
      const startedAt = scheduler.now();
      if (!this.#isOpen) this.#takeAnew(await this.#options.open());
      const isBehind = this.#isOpen && !this.#isEnding && (await this.#write());
      if (this.#isOpen && this.#options.copy.isDue(scheduler.now())) void this.#makeCopy();
      this.#tellState();
      const isAllWritten = this.#written === hub.revision && this.#long.size + this.#forgotten.length === 0;
      if (this.#isIdle && this.#trouble === undefined && !this.#isEnding && isAllWritten) {
        await this.#pause.until(afterNext(hub.changes$, tickMs, scheduler));
        continue;
      }
      const pauseMs = this.#trouble === undefined ? (isBehind ? 0 : tickMs) : this.#backoff.next();
      await this.#pause.for(startedAt + pauseMs - scheduler.now());
    }
  }

  /** Writes what has changed up to now, and ends the thread. */
  async end(kept: Promise<unknown>): Promise<void> {
    const wasOpen = this.#isOpen; // what another hub frees meanwhile is not ours
    this.#removals.unsubscribe();
    this.#isEnding = true;
    this.#pause.wake();
    await kept;
    try {
      while (wasOpen && this.#isOpen && (await this.#write()));
    } finally {
      await awaitReaders(this.#options.copy.end());
      await this.#options.writer.end();
    }
  }

  async #makeCopy(): Promise<void> {
    const { state } = await this.#options.copy.make(() => this.#options.scheduler.now());
    if (state === 'damaged') this.#openAnew();
  }

  /** Has the database opened again, and written anew. */
  #openAnew(): void {
    this.#isOpen = false;
    this.#hasMadeRoom = false;
    this.#renew();
  }

  #takeAnew(opened: Opened): void {
    if (!this.#isEnding) this.#options.giveBack(opened.held);
    this.#take(opened);
  }

  #take(opened: Opened): void {
    const { losses, reason, copyAgeMs } = opened;
    this.#losses = [...this.#losses, ...losses];
    this.#isOpen = reason === undefined;
    this.#options.tellOpen(this.#isOpen);
    this.#options.snapshots.adopt(opened);
    this.#trouble = reason;
    if (this.#isOpen) {
      this.#backoff.reset();
      this.#options.copy.plan(this.#options.scheduler.now(), copyAgeMs);
    } else this.#renew();
    this.#tellState();
  }

  /** Everything is to be written: what the disk has of it is not known. */
  #renew(): void {
    this.#written = 0;
    this.#long.clear();
    this.#memories.renew();
    this.#options.snapshots.renew();
  }

  /** Writes one batch; returns whether there is more to write at once. */
  async #write(): Promise<boolean> {
    const isKept = (parameter: Parameter) => this.#isWanted(parameter);
    const gathered = gather(this.#options.hub, this.#written, isKept, this.#causes, this.#long);
    const { revision, isFull } = gathered;
    const { values, forgotten } = this.#within(gathered);
    const memories = this.#memories.take();
    const snapshots = this.#options.snapshots.take();
    const isEmpty = values.length + forgotten.length + memories.length === 0 && snapshots === undefined;
    this.#isIdle = isEmpty;
    if (!isEmpty) {
      const batch = { values, memories, snapshots, forgotten: forgotten.map(({ address }) => address) };
      const isWritten = await this.#commit(batch);
      if (!isWritten) {
        this.#forgotten.push(...forgotten);
        return this.#trouble === undefined;
      }
    }
    for (const parameter of gathered.parameters) this.#long.delete(parameter);
    this.#written = revision;
    this.#progress.wrote(values.length, Math.min(revision, this.#long.revision - 1));
    this.#memories.written(memories);
    if (snapshots !== undefined) this.#options.snapshots.written(snapshots);
    return isFull;
  }

  /** What is to be written of a batch, and which values are kept no longer, as somebody has used up its share of the room. */
  #within({ values, parameters }: Gathered): { values: readonly ValueRow[]; forgotten: readonly Parameter[] } {
    const forgotten = new Set(this.#forgotten.splice(0));
    const shares = this.#shares;
    if (shares === undefined) return { values, forgotten: [...forgotten] };
    const rows = new Map<Parameter, ValueRow>();
    const put = (parameter: Parameter, row: ValueRow) => {
      forgotten.delete(parameter);
      rows.set(parameter, row);
      for (const gone of shares.put(parameter, row)) {
        rows.delete(gone);
        forgotten.add(gone);
      }
    };
    for (const [index, row] of values.entries()) put(parameters[index]!, row);
    for (const parameter of shares.fitting(fittingBytes)) put(parameter, rowOf(parameter, this.#causes));
    this.#tellRefused();
    return { values: [...rows.values()], forgotten: [...forgotten] };
  }

  /** Whether the batch is on the disk. */
  async #commit(batch: Batch): Promise<boolean> {
    const { scheduler } = this.#options;
    const startedAt = scheduler.now();
    const written = await this.#disk.watch(this.#attempt(batch));
    this.#progress.flushDurations.add((scheduler.now() - startedAt) / 1000);
    this.#trouble = written.state === 'written' ? undefined : `values are not written: ${written.reason}`;
    if (written.state === 'written') {
      this.#leftOut.add(written.leftOut);
      this.#backoff.reset();
      this.#hasMadeRoom = false;
      if (this.#shares?.isPlenty) this.#countNoMore(this.#shares);
      return true;
    }
    this.#memories.renew();
    if (written.state !== 'full') this.#openAnew();
    else if (written.isUsedUp && (await this.#giveWay())) this.#trouble = undefined;
    return false;
  }

  /** Has those give way who take most. Returns whether anything has changed by that. */
  async #giveWay(): Promise<boolean> {
    if (this.#shares === undefined && (await this.#count())) return true;
    const gone = this.#shares!.shrink();
    this.#forgotten.push(...gone);
    this.#tellRefused();
    return gone.length > 0;
  }

  /**
   * From now on it is counted who takes how much. What changes meanwhile is counted when it is written. Returns whether somebody has to give
   * way by that.
   */
  async #count(): Promise<boolean> {
    const { hub, maxBytes, scheduler } = this.#options;
    const shares = new ValueShares(maxBytes);
    this.#shares = shares;
    let counted = 0;
    for (const parameter of [...hub.parameters()]) {
      if (parameter.value === undefined || !this.#isWanted(parameter) || isDefault(parameter)) continue;
      this.#forgotten.push(...shares.put(parameter, rowOf(parameter, this.#causes)));
      if (++counted % countedAtOnce === 0) await new Pause(scheduler).for(0);
    }
    this.#tellRefused();
    return shares.text !== undefined;
  }

  #countNoMore(shares: ValueShares): void {
    this.#refusals += shares.refusals;
    this.#shares = undefined;
    this.#toldRefused.clear();
  }

  /** Names in the log and in the audit whose values are not kept, once until all are. */
  #tellRefused(): void {
    const { log, hub } = this.#options;
    for (const [writer, values] of this.#shares?.refused() ?? []) {
      if (this.#toldRefused.has(writer)) continue;
      this.#toldRefused.add(writer);
      const text = `values of ${writer} are not kept, as it takes most of the room that maxSize leaves to values`;
      log.warn({ writer, values }, text, `not kept ${writer}`);
      const after = `${groupDigits(values)} values are not kept`;
      const cause = 'it takes most of the room that maxSize leaves to values';
      hub.keeping.note({ kind: 'lost', user: writer, address: '', after, cause });
    }
  }

  /** Where there is no room, what belongs to no parameter any more is forgotten first. */
  async #attempt(batch: Batch): Promise<Written> {
    const { writer, hub } = this.#options;
    const written = await writer.write(batch);
    if (written.state !== 'full' || this.#hasMadeRoom) return written;
    const made = await writer.makeRoom([...hub.parameters()].map(({ address }) => address));
    this.#hasMadeRoom = made.state === 'written';
    return writer.write(batch);
  }

  #tellState(): void {
    if (this.#isEnding) return;
    const lag = this.#disk.describeLag('values');
    this.#state.set(
      this.#trouble,
      this.#shares?.text,
      lag,
      this.#leftOut.text,
      this.#options.copy.trouble,
      ...this.#losses,
    );
  }

  #isWanted(parameter: Parameter): boolean {
    let isWanted = this.#wanted.get(parameter);
    if (isWanted === undefined) {
      isWanted = this.#options.hub.keeping.isKept(parameter) && this.#options.isSelected(parameter.address);
      this.#wanted.set(parameter, isWanted);
    }
    return isWanted;
  }
}

// What connections have under way, as it is to be written: as JSON, and only where it is another than on the disk.

type Rows = Batch['memories'];

class Memories {
  readonly #keeping: KeepingPort;
  /** What is on the disk, by connection and name. */
  readonly #texts = new Map<string, string>();

  constructor(keeping: KeepingPort) {
    this.#keeping = keeping;
  }

  /** What is to be written; until it has been, `renew` makes it so again. */
  take(): Rows {
    const rows: [connection: string, name: string, memory: string | undefined][] = [];
    for (const { connection, name, memory } of this.#keeping.takeMemories()) {
      const text = memory === undefined ? undefined : JSON.stringify(memory);
      if (text === undefined || this.#texts.get(keyOf(connection, name)) !== text) rows.push([connection, name, text]);
    }
    return rows;
  }

  written(rows: Rows): void {
    for (const [connection, name, text] of rows)
      if (text === undefined) this.#texts.delete(keyOf(connection, name));
      else this.#texts.set(keyOf(connection, name), text);
  }

  /** Nothing is known to be on the disk. */
  renew(): void {
    this.#texts.clear();
    this.#keeping.renewMemories();
  }
}

function keyOf(connection: string, name: string): string {
  return `${connection}/${name}`;
}

// How far the values are written: for those who ask how it goes, and for those who wait until what has changed is on the disk.

class Progress implements ValuesArchive {
  readonly flushDurations = new Durations();
  readonly #hub: { readonly revision: number };
  readonly #now: () => number;
  readonly #lost: () => number;
  readonly isLeftOut: (parameter: Parameter) => boolean;
  readonly #rate = new RowRate();
  readonly #waiting = new Set<{ readonly revision: number; readonly resolve: () => void }>();
  #written: number;
  #writtenAt: number;

  /** `now` is in milliseconds of a monotonic clock; `lost` tells how many values could not be written, `isLeftOut` which ones have no room. */
  constructor(
    hub: { readonly revision: number },
    now: () => number,
    lost: () => number,
    isLeftOut: (parameter: Parameter) => boolean,
  ) {
    this.#lost = lost;
    this.isLeftOut = isLeftOut;
    this.#hub = hub;
    this.#now = now;
    this.#written = hub.revision;
    this.#writtenAt = now();
  }

  /** Notes that all changes up to a revision are on the disk. */
  wrote(rows: number, revision: number): void {
    this.#written = revision;
    this.#writtenAt = this.#now();
    if (rows > 0) this.#rate.add(this.#writtenAt, rows);
    for (const one of this.#waiting) if (one.revision <= revision) one.resolve();
  }

  status(): WritingStatus {
    const isBehind = this.#hub.revision > this.#written;
    const now = this.#now();
    return { perSecond: this.#rate.perSecond(now), lagMs: isBehind ? now - this.#writtenAt : 0, lost: this.#lost() };
  }

  async flush(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const one = { revision: this.#hub.revision, resolve };
    this.#waiting.add(one);
    await within(promise, flushDeadlineMs);
    this.#waiting.delete(one);
  }
}
