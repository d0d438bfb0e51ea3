// Keeps the values on the disk those of the hub: 100 ms after a change what has changed is written in one transaction. What
// cannot be written stays in the hub, which knows the newest anyhow, and is written once that is possible again.

import { Observable, type SchedulerLike, type Subscription } from 'rxjs';
import type { Parameter } from '../../../model/parameter.ts';
import { Backoff } from '../../../model/time/backoff.ts';
import { Pause } from '../../../model/time/pause.ts';
import type { ValuesArchive } from '../../archive.ts';
import type { ConnectionEvent } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import { afterNext } from '../after-next.ts';
import type { HourlyCopy } from '../hourly-copy.ts';
import { LeftOutCount } from '../left-out.ts';
import { againTimes, SlowDisk } from '../slow-disk.ts';
import type { SnapshotShelf } from '../snapshots/shelf.ts';
import type { Batch, Opened, Written } from '../thread/values/messages.ts';
import { ToldState } from '../told-state.ts';
import { gather } from './gather.ts';
import { CausesWriter } from './kept-causes.ts';
import { Memories } from './memories.ts';
import { Progress } from './progress.ts';
import type { ValuesWriter } from './values-writer.ts';

/** How often changes are written. */
const tickMs = 100;

export interface KeepValuesOptions {
  readonly hub: HubPort;
  readonly writer: ValuesWriter;
  readonly copy: HourlyCopy;
  /** The snapshots, which are written with the values. */
  readonly snapshots: SnapshotShelf;
  readonly scheduler: SchedulerLike;
  /** What the first opening comes to, where the hub has restored its values from it. */
  readonly opened: Promise<Opened> | undefined;
  readonly isSelected: (address: string) => boolean;
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
  readonly #progress: Progress;
  #isOpen = false;
  /** Whether what belongs to no parameter any more has been forgotten, since something was written or a parameter was removed. */
  #hasMadeRoom = false;
  readonly #removals: Subscription;
  /** Whether there was nothing to write. */
  #isIdle = false;
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
      () => this.#leftOut.count,
    );
    this.#removals = options.hub.removed$.subscribe(() => {
      this.#hasMadeRoom = false;
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
      if (this.#isIdle && this.#trouble === undefined && !this.#isEnding && this.#written === hub.revision) {
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
      await Promise.all([this.#options.copy.end(), this.#options.writer.end()]);
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
    this.#memories.renew();
    this.#options.snapshots.renew();
  }

  /** Writes one batch; returns whether there is more to write at once. */
  async #write(): Promise<boolean> {
    const isKept = (parameter: Parameter) => this.#isWanted(parameter);
    const { values, revision, isFull } = gather(this.#options.hub, this.#written, isKept, this.#causes);
    const memories = this.#memories.take();
    const snapshots = this.#options.snapshots.take();
    const isEmpty = values.length + memories.length === 0 && snapshots === undefined;
    this.#isIdle = isEmpty;
    if (!isEmpty && !(await this.#commit({ values, memories, snapshots }))) return false;
    this.#written = revision;
    this.#progress.wrote(values.length, revision);
    this.#memories.written(memories);
    if (snapshots !== undefined) this.#options.snapshots.written(snapshots);
    return isFull;
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
      return true;
    }
    if (written.state === 'full') this.#memories.renew();
    else this.#openAnew();
    return false;
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
    this.#state.set(this.#trouble, lag, this.#leftOut.text, this.#options.copy.trouble, ...this.#losses);
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
