// Records changes: every second, the hub sends the collected changes to a thread, which writes the changes to disk. If the disk fails, a
// limited number of changes waits. Further changes are lost, and the history records the gap.
import { setImmediate as nextRound } from 'node:timers/promises';
import { wallClock } from '../../../model/time/wall-clock.ts';
import type { ConnectionContext, ConnectionEvent } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { Archive, RecordedArchive } from '../../persistence.ts';
import { Keeper, type KeeperOptions, runKeeper, type Wrote } from '../keeper.ts';
import type { Part } from '../parts.ts';
import { roomOf, rulesOf, type StoreSettings } from '../settings.ts';
import { StoreThread } from '../store-thread.ts';
import type { Changes, HistoryAnswer, HistoryRequest, OpenHistory } from './history-messages.ts';
import { Recorder } from './recorder.ts';

/** The interval at which changes are sent to the thread, in milliseconds. */
const handOverMs = 1000;
/** The pause between two steps of a catch-up, in milliseconds. */
const catchUpMs = 20;
const tooFast = 'changes arrived faster than they could be written';

interface HistoryOptions extends KeeperOptions {
  readonly writer: HistoryWriter;
  readonly request: Pick<OpenHistory, 'folder' | 'room' | 'rules'>;
  /** Returns whether an address belongs to a parameter of the store itself. */
  isOwn(address: string): boolean;
}

class HistoryKeeper extends Keeper implements RecordedArchive {
  readonly archive: Archive = { history: this };
  readonly #options: HistoryOptions;
  readonly #recorder: Recorder;
  /** Whether the thread still has changes to write. */
  #isUnderWay = false;
  /** The reason for the loss of changes, which the recorded gap will state. */
  #lossReason = tooFast;
  #isFirst = true;

  constructor(options: HistoryOptions, report: (event: ConnectionEvent) => void) {
    super('changes', options, report);
    this.#options = options;
    this.#recorder = new Recorder(options.hub, options.request.rules, options.isOwn, () => this.pause.wake());
    this.listening.add(() => this.#recorder.end());
    this.listening.add(options.hub.persistence.renamed$.subscribe((rename) => this.#recorder.rename(rename)));
    this.reportState(); // opening a large file takes longer than the start of the hub should take
  }

  protected get tickMs(): number {
    if (this.#recorder.queue.isHalfFull) return 0;
    return this.#recorder.isCatchingUp ? catchUpMs : handOverMs;
  }

  protected get lost(): number {
    return this.#recorder.queue.lost + this.leftOut.count;
  }

  protected get isBehind(): boolean {
    return !this.isOpen || this.trouble !== undefined || this.#isUnderWay || !this.#recorder.queue.isEmpty;
  }

  async check(): Promise<void> {
    await this.#options.writer.check().then(
      (answer) => this.#take(answer),
      () => {}, // the thread has ended, and `keep` reports this
    );
  }

  protected reasons() {
    return [this.#recorder.queue.isLosing ? 'changes are lost until space is available again' : undefined];
  }

  protected async open(): Promise<void> {
    const { hub, writer, request } = this.#options;
    const { startedAt, epoch } = hub;
    const [isFirst, now] = [this.#isFirst, wallClock.now()];
    if (isFirst) await nextRound(); // serving clients is more urgent
    const answer = await writer.open({ ...request, epoch, startedAt, now, isFirst });
    this.#take(answer);
    if (!this.isOpen) return;
    if (!isFirst && answer.seen === undefined) this.#recorder.startCatchUp(); // the file is new
    this.#isFirst = false;
  }

  /** Sends all waiting changes to the thread, and waits until they are written or the write fails. */
  protected async write(): Promise<Wrote> {
    const { writer } = this.#options;
    if (this.trouble !== undefined) this.#take(await writer.goOn());
    if (this.trouble !== undefined) return 'all';
    const now = wallClock.now(); // this call also reports a clock jump that has not been noticed so far
    this.#recorder.goOn(now, this.#lossReason);
    this.#lossReason = tooFast;
    this.#recorder.catchUp();
    this.#isUnderWay = !this.#recorder.queue.isEmpty;
    const { changes, transfer } = this.#recorder.take(now);
    this.#take(await writer.write(changes, transfer));
    return 'all';
  }

  #take({ losses, trouble, leftOut, rows, oldest, buffers }: HistoryAnswer): void {
    this.noteLosses(losses);
    this.noteTrouble(trouble && `nothing is recorded: ${trouble.reason}`);
    this.leftOut.add(leftOut);
    this.isOpen = trouble?.state !== 'closed';
    this.oldest = oldest;
    this.#recorder.queue.giveBack(buffers);
    this.rate.add(this.#options.scheduler.now(), rows);
    if (trouble === undefined) this.#isUnderWay = false;
    else if (this.#recorder.queue.isLosing) this.#lossReason = trouble.reason;
  }
}

// The hub's side of the thread that writes the history.

/** Sends requests to the thread. Every method rejects if the thread has ended. */
export class HistoryWriter {
  readonly #thread = new StoreThread<HistoryRequest, HistoryAnswer>('history-thread', 'writing the history');

  /** Opens the history database, even if it is damaged. */
  open(request: Omit<OpenHistory, 'ask'>): Promise<HistoryAnswer> {
    return this.#thread.ask({ ask: 'open', ...request });
  }

  write(changes: Changes, transfer: readonly ArrayBuffer[]): Promise<HistoryAnswer> {
    return this.#thread.ask({ ask: 'write', changes }, transfer);
  }

  /** Tries again to write the changes that could not be written. */
  goOn(): Promise<HistoryAnswer> {
    return this.#thread.ask({ ask: 'go on' });
  }

  /** Checks the whole database file for damage. */
  check(): Promise<HistoryAnswer> {
    return this.#thread.ask({ ask: 'check' });
  }

  /** Closes the database and ends the thread. */
  end(): Promise<void> {
    return this.#thread.end({ ask: 'close' });
  }
}

// The part of the store that keeps the history

/** Creates the part of a store that records all changes, except changes to the store's own parameters. */
export function historyOf(
  { id, settings, resolvePath, scheduler, finish }: ConnectionContext<StoreSettings>,
  hub: HubPort,
  readersEnded: () => Promise<unknown>,
): Part {
  const request = {
    folder: resolvePath(settings.folder),
    room: roomOf(settings.maxSize).history,
    rules: rulesOf(settings.history),
  };
  const isOwn = (address: string) => address.startsWith(`${id}/`);
  return runKeeper(
    (report) =>
      new HistoryKeeper({ hub, writer: new HistoryWriter(), scheduler, request, isOwn, readersEnded }, report),
    hub,
    finish,
  );
}
