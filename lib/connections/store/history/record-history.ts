// Records what changes: every second what has come together is handed to a thread that writes it. As long as it cannot be written
// changes wait, up to a bound; what comes then is lost, and the history says from when to when.
import { Observable, type SchedulerLike } from 'rxjs';
import { Backoff } from '../../../model/time/backoff.ts';
import { within } from '../../../model/time/deadline.ts';
import { Pause, wallClock } from '../../../model/time/wall-clock.ts';
import type { ConnectionContext, ConnectionEvent } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { RecordedArchive, WritingStatus } from '../../keeping.ts';
import { againTimes, awaitReaders, flushDeadlineMs, LeftOutCount, RowRate, ToldState } from '../keeper.ts';
import type { Part } from '../parts.ts';
import { roomOf, rulesOf, type StoreSettings } from '../settings.ts';
import { StoreThread } from '../store-thread.ts';
import type { Changes, HistoryAnswer, HistoryRequest, HistoryRoom, OpenHistory } from './history-messages.ts';
import type { HistoryRule } from './history-rules.ts';
import { Recorder } from './recorder.ts';

/** How often changes are handed over. */
const handOverMs = 1000;
/** How long pauses are while it is found out what has changed meanwhile. */
const catchUpMs = 20;
/** So many sentences about what was lost are shown at most, the newest. */
const keptLosses = 5;

interface RecordHistoryOptions {
  readonly hub: HubPort;
  readonly rules: readonly HistoryRule[];
  readonly folder: string;
  readonly room: HistoryRoom;
  readonly scheduler: SchedulerLike;
  /** Tells the store's own parameters. */
  isOwn(address: string): boolean;
  /** Resolves when nobody reads the database any more; asked at the end. */
  readersEnded(): Promise<unknown>;
  /** Takes over the last write when unsubscribed. */
  finish(work: Promise<unknown>): void;
  /** Offers what the history can be asked for; returns what ends that. */
  offer(history: RecordedArchive): () => void;
}

/** Records until it is unsubscribed; emits the state whenever it changes. Cold; errs when the thread has ended. */
function recordHistory(options: RecordHistoryOptions): Observable<ConnectionEvent> {
  return new Observable((subscriber) => {
    const keeper = new HistoryKeeper(options, (event) => subscriber.next(event));
    const kept = keeper.keep().catch((error) => subscriber.error(error));
    const withdraw = options.offer(keeper);
    return () => {
      withdraw();
      options.finish(keeper.end(kept));
    };
  });
}

const tooFast = 'changes came faster than they could be written';

class HistoryKeeper implements RecordedArchive {
  readonly #options: RecordHistoryOptions;
  readonly #state: ToldState;
  readonly #writer = new HistoryWriter();
  readonly #recorder: Recorder;
  readonly #backoff = new Backoff(againTimes);
  readonly #rate = new RowRate();
  /** Who waits until what was recorded up to now is written. */
  #flushing: (() => void)[] = [];
  /** What was lost; shown until the connection is started anew. */
  #losses: readonly string[] = [];
  readonly #leftOut = new LeftOutCount('changes');
  #trouble: HistoryAnswer['trouble'] = { state: 'closed', reason: 'it is being opened' };
  /** When everything that was recorded had been written last, on the clock of the connection. */
  #caughtUpAt: number;
  /** Whether the thread has changes that are not written. */
  #isUnderWay = false;
  #oldest: number | undefined;
  /** Why changes were lost. */
  #lossReason = tooFast;
  #isFirst = true;
  #isEnding = false;
  readonly #pause: Pause;

  constructor(options: RecordHistoryOptions, tell: (event: ConnectionEvent) => void) {
    this.#options = options;
    this.#state = new ToldState(tell);
    this.#pause = new Pause(options.scheduler);
    this.#caughtUpAt = options.scheduler.now();
    this.#recorder = new Recorder(options.hub, options.rules, options.isOwn, () => this.#pause.wake());
  }

  status(): WritingStatus {
    const now = this.#options.scheduler.now();
    const isBehind = this.#trouble !== undefined || this.#isUnderWay || !this.#recorder.queue.isEmpty;
    const lagMs = isBehind ? now - this.#caughtUpAt : 0;
    return {
      perSecond: this.#rate.perSecond(now),
      lagMs,
      lost: this.#recorder.queue.lost + this.#leftOut.count,
      oldest: this.#oldest,
    };
  }

  async flush(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#flushing.push(resolve);
    this.#pause.wake();
    await within(promise, flushDeadlineMs, this.#options.scheduler);
  }

  async check(): Promise<void> {
    await this.#writer.check().then(
      (answer) => this.#take(answer),
      () => {}, // the thread has ended: that is told elsewhere
    );
  }

  async keep(): Promise<void> {
    const { scheduler } = this.#options;
    this.#state.set(); // to open a large file takes longer than the hub is to wait
    while (!this.#isEnding) {
      const startedAt = scheduler.now();
      await this.#step();
      this.#tellState();
      const pauseMs = this.#pauseMs();
      await this.#pause.for(startedAt + pauseMs - scheduler.now());
    }
  }

  /** Writes what was recorded up to now, and ends the thread. */
  async end(kept: Promise<unknown>): Promise<void> {
    this.#isEnding = true;
    this.#recorder.end();
    this.#pause.wake();
    await kept;
    try {
      if (this.#trouble === undefined) await this.#handOver();
    } finally {
      for (const resolve of this.#flushing) resolve();
      await awaitReaders(this.#options.readersEnded());
      await this.#writer.end();
    }
  }

  async #step(): Promise<void> {
    if (this.#trouble?.state === 'closed') await this.#open();
    else if (this.#trouble !== undefined) this.#take(await this.#writer.goOn());
    if (this.#trouble !== undefined) return;
    this.#recorder.goOn(wallClock.now(), this.#lossReason);
    this.#lossReason = tooFast;
    this.#recorder.catchUp();
    await this.#handOver();
  }

  async #open(): Promise<void> {
    const { hub, rules, folder, room } = this.#options;
    const { startedAt, epoch } = hub;
    const [isFirst, now] = [this.#isFirst, wallClock.now()];
    const answer = await this.#writer.open({ folder, room, rules, epoch, startedAt, now, isFirst });
    this.#take(answer);
    if (answer.trouble?.state === 'closed') return;
    if (!this.#isFirst && answer.seen === undefined) this.#recorder.startCatchUp(); // it is a new file
    this.#isFirst = false;
  }

  /** Hands everything over that waits, and waits until it is written or cannot be. */
  async #handOver(): Promise<void> {
    const flushing = this.#flushing.splice(0);
    const takenAt = this.#options.scheduler.now();
    const now = wallClock.now(); // a jump that was not noticed yet is told before
    this.#isUnderWay = !this.#recorder.queue.isEmpty;
    const { changes, transfer } = this.#recorder.take(now);
    this.#take(await this.#writer.write(changes, transfer));
    if (this.#trouble === undefined) this.#caughtUpAt = takenAt;
    for (const resolve of flushing) resolve();
  }

  #take({ losses, trouble, leftOut, rows, oldest, buffers }: HistoryAnswer): void {
    this.#losses = [...this.#losses, ...losses].slice(-keptLosses);
    this.#leftOut.add(leftOut);
    this.#trouble = trouble;
    this.#oldest = oldest;
    this.#recorder.queue.giveBack(buffers);
    this.#rate.add(this.#options.scheduler.now(), rows);
    if (trouble === undefined) {
      this.#isUnderWay = false;
      this.#backoff.reset();
    } else if (this.#recorder.queue.isLosing) this.#lossReason = trouble.reason;
  }

  #tellState(): void {
    if (this.#isEnding) return;
    const trouble = this.#trouble && `nothing is recorded: ${this.#trouble.reason}`;
    const losing = this.#recorder.queue.isLosing ? 'changes are lost until there is room again' : undefined;
    this.#state.set(trouble, losing, this.#leftOut.text, ...this.#losses);
  }

  #pauseMs(): number {
    if (this.#isEnding) return 0;
    if (this.#trouble !== undefined) return this.#backoff.next();
    if (this.#flushing.length > 0 || this.#recorder.queue.isHalfFull) return 0;
    return this.#recorder.isCatchingUp ? catchUpMs : handOverMs;
  }
}

// The thread that writes the history, seen from the hub's.

/** Errors of all of it: when the thread has ended. */
export class HistoryWriter {
  readonly #thread = new StoreThread<HistoryRequest, HistoryAnswer>('history-thread', 'writes the history');

  /** Opens the database, whatever has become of it. */
  open(request: Omit<OpenHistory, 'ask'>): Promise<HistoryAnswer> {
    return this.#thread.ask({ ask: 'open', ...request });
  }

  write(changes: Changes, transfer: readonly ArrayBuffer[]): Promise<HistoryAnswer> {
    return this.#thread.ask({ ask: 'write', changes }, transfer);
  }

  /** Tries again to write what could not be written. */
  goOn(): Promise<HistoryAnswer> {
    return this.#thread.ask({ ask: 'go on' });
  }

  /** Reads all of the file for damage. */
  check(): Promise<HistoryAnswer> {
    return this.#thread.ask({ ask: 'check' });
  }

  /** Closes the database and ends the thread. */
  async end(): Promise<void> {
    await this.#thread.ask({ ask: 'close' }).catch(() => {});
    await this.#thread.end();
  }
}

// The history as a part of the store.

/** Records everything that changes, but for the store's own parameters. */
export function historyOf(
  { id, settings, resolvePath, scheduler, finish }: ConnectionContext<StoreSettings>,
  hub: HubPort,
  readersEnded: () => Promise<unknown>,
): Part {
  return recordHistory({
    hub,
    rules: rulesOf(settings.history),
    folder: resolvePath(settings.folder),
    room: roomOf(settings.maxSize).history,
    scheduler,
    isOwn: (address) => address.startsWith(`${id}/`),
    offer: (history) => hub.keeping.offer({ history }),
    readersEnded,
    finish,
  });
}
