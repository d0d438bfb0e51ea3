// Writes the hub's values to disk: 100 ms after a change, one transaction writes all changed values. If the disk fails, the hub still
// has the newest values and writes them once the disk works again.
import { counted } from '../../../model/digits.ts';
import type { Parameter } from '../../../model/parameter.ts';
import { within } from '../../../model/time/deadline.ts';
import { Durations } from '../../../model/time/duration.ts';
import { Pause } from '../../../model/time/wall-clock.ts';
import type { ConnectionContext, ConnectionEvent, Log } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { Archive, KeptValue, PersistencePort, ValuesArchive } from '../../persistence.ts';
import { HourlyCopy } from '../hourly-copy.ts';
import { Keeper, type KeeperOptions, runKeeper, tickAfter, type Wrote } from '../keeper.ts';
import { buffersOf, packRows } from '../packed-rows.ts';
import type { Part } from '../parts.ts';
import { createSelection } from '../selection.ts';
import { roomOf, type StoreSettings } from '../settings.ts';
import type { SnapshotShelf } from '../snapshots/shelf.ts';
import { StoreThread } from '../store-thread.ts';
import { filesOf } from '../thread/database/files.ts';
import type {
  Answer,
  Batch,
  Opened,
  Read,
  ReadRequest,
  Request,
  ValueRow,
  Written,
} from '../thread/values/values-messages.ts';
import { type Gathered, gather, isDefault, LongValues, recentRows, rowOf } from './gather.ts';
import { CausesWriter, readCauses } from './kept-causes.ts';
import { ValueShares } from './shares.ts';

/** The number of values after which a count of shares pauses. */
const countedAtOnce = 1000;
/** The maximum size of the values in a batch that did not fit before, in bytes. */
const fittingBytes = 512 * 1024;
/**
 * The bounds for storing values together in a single row because they change continuously: the minimum and maximum number of values, the
 * maximum number of characters in their causes, and the number of such writes after which the values get separate rows again.
 */
const leastRecent = 50;
const mostRecent = 1000;
const mostRecentCharacters = 512 * 1024;
const mostRecentWrites = 9;

interface ValuesOptions extends KeeperOptions {
  readonly writer: ValuesWriter;
  /** The snapshots, which are written with the values. */
  readonly snapshots: SnapshotShelf;
  readonly isSelected: (address: string) => boolean;
  readonly request: Omit<ReadRequest, 'ask'>;
  readonly log: Log;
  /** Called with the contents of the database whenever the database is opened while the hub is running. */
  giveBack(held: Opened['held']): void;
  /** Called when the database has been opened or closed. While the database is open, this hub owns the folder. */
  reportOpen(isOpen: boolean): void;
}

class ValuesKeeper extends Keeper implements ValuesArchive {
  readonly archive: Archive = { values: this };
  readonly flushDurations = new Durations();
  readonly #options: ValuesOptions;
  readonly #memories: Memories;
  readonly #causes = new CausesWriter();
  readonly #wanted = new WeakMap<Parameter, boolean>();
  #opened: Promise<Opened> | undefined;
  /**
   * The revision up to which all changes have separate rows on disk or are waiting as long values. Changes up to `#safe` are stored at
   * least as recent values.
   */
  #written: number;
  #safe: number;
  /** The parameters whose values are on disk as recent values, and the number of such writes since the last write with separate rows. */
  #recent: ReadonlySet<Parameter> = new Set();
  #recentWrites = 0;
  /** The number of values in the last batch, which determines the pause before the next batch. */
  #lastRows = 0;
  /** The long values that are not on disk yet. */
  readonly #long = new LongValues();
  /** The shares of the writers; undefined while all values fit. */
  #shares: ValueShares | undefined;
  /** The parameters whose values are no longer stored, but are still on disk. */
  #forgotten: Parameter[] = [];
  /** Whether values of removed parameters have been deleted, and nothing has been written or removed since. */
  #hasMadeRoom = false;
  /** The number of refusals before the current count of shares. */
  #refusals = 0;
  /** The writers that the log has already named because their values are not stored. */
  readonly #reportedRefused = new Set<string>();

  /** `opened` is the result of opening the database at startup, if the hub restored its values from it; otherwise undefined. */
  constructor(options: ValuesOptions, opened: Promise<Opened> | undefined, report: (event: ConnectionEvent) => void) {
    super('values', options, report);
    this.#options = options;
    this.#opened = opened;
    this.#memories = new Memories(options.hub.persistence);
    this.#written = this.#safe = options.hub.revision;
    this.listening.add(
      options.hub.removed$.subscribe((parameter) => {
        this.#hasMadeRoom = false;
        this.#shares?.forget(parameter);
        this.#long.delete(parameter);
        if (this.#shares !== undefined) this.pause.wake();
      }),
    );
  }

  protected get tickMs(): number {
    return tickAfter(this.#lastRows);
  }

  protected get lost(): number {
    return this.leftOut.count + (this.#shares?.refusals ?? 0) + this.#refusals;
  }

  protected get isBehind(): boolean {
    return this.#written < this.#options.hub.revision || this.#long.size + this.#forgotten.length > 0;
  }

  isLeftOut(parameter: Parameter): boolean {
    return this.#shares?.isRefused(parameter) ?? false;
  }

  protected reasons() {
    return [this.#shares?.text];
  }

  protected async open(): Promise<void> {
    const { writer, request, snapshots, giveBack, reportOpen } = this.#options;
    const restored = this.#opened;
    this.#opened = undefined;
    if (restored === undefined) this.#renew();
    const opened = await (restored ?? writer.open(request).opened);
    if (restored === undefined && !this.isEnding) giveBack(opened.held);
    snapshots.adopt(opened);
    this.noteOpened(opened);
    this.isOpen &&= !this.isEnding; // this hub no longer owns a folder that was released when it began to shut down
    reportOpen(this.isOpen);
  }

  /** Marks all values, memories and snapshots for writing, because it is unknown what the disk contains. */
  #renew(): void {
    this.#written = this.#safe = 0;
    this.#recent = new Set();
    this.#hasMadeRoom = false;
    this.#long.clear();
    this.#memories.renew();
    this.#options.snapshots.renew();
  }

  protected async write(isLast: boolean): Promise<Wrote> {
    const isKept = (parameter: Parameter) => this.#isWanted(parameter);
    const gathered = gather(this.#options.hub, this.#written, isKept, this.#causes, this.#long);
    const isRecent = !isLast && this.#areRecent(gathered);
    const { values, forgotten } = isRecent ? { ...gathered, forgotten: [] } : this.#within(gathered);
    this.#lastRows = values.length;
    const memories = this.#memories.take();
    const snapshots = this.#options.snapshots.take();
    const isEmpty = values.length + forgotten.length + memories.length === 0 && snapshots === undefined;
    if (!isEmpty) {
      const rows = isRecent ? { values: [], recent: recentRows(values) } : { values };
      const batch = { ...rows, memories, snapshots, forgotten: forgotten.map(({ address }) => address) };
      if (!(await this.#isOnDisk(batch))) {
        this.#forgotten.push(...forgotten);
        this.#recentWrites = mostRecentWrites;
        return this.trouble === undefined ? 'more' : 'all';
      }
    }
    for (const parameter of gathered.parameters) this.#long.delete(parameter);
    this.#safe = gathered.revision;
    if (!isRecent) this.#written = gathered.revision;
    if (values.length > 0) this.#recent = new Set(isRecent ? gathered.parameters : []);
    this.#recentWrites = isRecent ? this.#recentWrites + 1 : 0;
    this.rate.add(this.#options.scheduler.now(), values.length);
    this.#memories.written(memories);
    if (snapshots !== undefined) this.#options.snapshots.written(snapshots);
    return gathered.isFull ? 'more' : isEmpty ? 'nothing' : 'all';
  }

  /** Returns whether all values in a batch are small and most of them change continuously. */
  #areRecent({ values, parameters, isFull }: Gathered): boolean {
    if (isFull || this.#shares !== undefined || this.#long.size + this.#forgotten.length > 0) return false;
    if (values.length < leastRecent || values.length > mostRecent || this.#recentWrites >= mostRecentWrites)
      return false;
    let again = 0;
    let characters = 0;
    for (const [index, [, , value, time, causes]] of values.entries()) {
      if (typeof value === 'string' || !Number.isSafeInteger(time)) return false;
      characters += causes.length;
      if (parameters[index]!.lastChange!.revision > this.#safe) again++;
    }
    return characters <= mostRecentCharacters && 3 * again >= 2 * values.length;
  }

  /** Adds recent values that would otherwise have no row: those of removed parameters, and those that are not in the batch. */
  #withRecent({ values, parameters, ...rest }: Gathered): Gathered {
    const gathered = new Set(values.map(([address]) => address));
    const isLeft = (one: Parameter) => !gathered.has(one.address) && one.value !== undefined && !isDefault(one);
    const others = [...this.#recent].filter(isLeft);
    const rows = others.map((one) => rowOf(one, this.#causes));
    return { ...rest, values: [...values, ...rows], parameters: [...parameters, ...others] };
  }

  /** Returns the rows that fit, and the parameters whose values are no longer stored because their writers exceed their shares. */
  #within(gathered: Gathered): { values: readonly ValueRow[]; forgotten: readonly Parameter[] } {
    const { values, parameters } = this.#recent.size === 0 ? gathered : this.#withRecent(gathered);
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
    this.#reportRefused();
    return { values: [...rows.values()], forgotten: [...forgotten] };
  }

  /** Writes a batch. Returns whether the batch is on disk. */
  async #isOnDisk(batch: Batch): Promise<boolean> {
    const { scheduler } = this.#options;
    const startedAt = scheduler.now();
    const written = await this.commit(this.#attempt(batch));
    this.flushDurations.add((scheduler.now() - startedAt) / 1000);
    if (written.state === 'written') {
      this.#hasMadeRoom = false;
      if (this.#shares?.isPlenty) this.#countNoMore(this.#shares);
      return true;
    }
    this.#memories.renew();
    if (written.state !== 'full') return false;
    if (batch.recent !== undefined || (written.isUsedUp && (await this.#giveWay()))) this.noteTrouble(undefined);
    return false;
  }

  /** Frees space by no longer storing some of the largest writers' values. Returns whether any values were dropped. */
  async #giveWay(): Promise<boolean> {
    if (this.#shares === undefined && (await this.#count())) return true;
    const gone = this.#shares!.shrink();
    this.#forgotten.push(...gone);
    this.#reportRefused();
    return gone.length > 0;
  }

  /**
   * Begins to count the shares of the writers. Values that change during the count are counted when they are written. Returns whether a
   * writer exceeds its share.
   */
  async #count(): Promise<boolean> {
    const { hub, request, scheduler } = this.#options;
    const shares = new ValueShares(request.maxBytes);
    this.#shares = shares;
    let counted = 0;
    for (const parameter of [...hub.parameters()]) {
      if (parameter.value === undefined || !this.#isWanted(parameter) || isDefault(parameter)) continue;
      this.#forgotten.push(...shares.put(parameter, rowOf(parameter, this.#causes)));
      if (++counted % countedAtOnce === 0) await new Pause(scheduler).for(0);
    }
    this.#reportRefused();
    return shares.text !== undefined;
  }

  #countNoMore(shares: ValueShares): void {
    this.#refusals += shares.refusals;
    this.#shares = undefined;
    this.#reportedRefused.clear();
  }

  /**
   * Names the writers whose values are not stored, both in the log and in the audit: each writer once, until all values are stored again.
   */
  #reportRefused(): void {
    const { log, hub } = this.#options;
    for (const [writer, values] of this.#shares?.refused() ?? []) {
      if (this.#reportedRefused.has(writer)) continue;
      this.#reportedRefused.add(writer);
      const text = `values of ${writer} are not stored: this writer uses most of the space that maxSize leaves for values`;
      log.warn({ writer, values }, text, `values of ${writer} not stored`);
      const after = `${counted(values, 'value')} not stored`;
      const cause = 'this writer uses most of the space that maxSize leaves for values';
      hub.persistence.note({ kind: 'lost', user: writer, address: '', after, cause });
    }
  }

  /** Writes a batch. If the batch does not fit, deletes the values of removed parameters and tries again. */
  async #attempt(batch: Batch): Promise<Written> {
    const { writer, hub } = this.#options;
    const written = await writer.write(batch);
    if (written.state !== 'full' || this.#hasMadeRoom || batch.recent !== undefined) return written;
    const made = await writer.makeRoom([...hub.parameters()].map(({ address }) => address));
    this.#hasMadeRoom = made.state === 'written';
    return writer.write(batch);
  }

  #isWanted(parameter: Parameter): boolean {
    let isWanted = this.#wanted.get(parameter);
    if (isWanted === undefined) {
      isWanted = this.#options.hub.persistence.isKept(parameter) && this.#options.isSelected(parameter.address);
      this.#wanted.set(parameter, isWanted);
    }
    return isWanted;
  }
}

// The memories of connections, such as running timers, as JSON. Only memories that differ from the disk are written.

type Rows = Batch['memories'];

class Memories {
  readonly #persistence: PersistencePort;
  /** The memories on disk as JSON, keyed by connection and name. */
  readonly #texts = new Map<string, string>();

  constructor(persistence: PersistencePort) {
    this.#persistence = persistence;
  }

  /** Returns the memories that differ from the disk. After a failed write, `renew` makes all memories differ again. */
  take(): Rows {
    const rows: [connection: string, name: string, memory: string | undefined][] = [];
    for (const { connection, name, memory } of this.#persistence.takeMemories()) {
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

  /** Forgets which memories are on disk, so that all memories are written again. */
  renew(): void {
    this.#texts.clear();
    this.#persistence.renewMemories();
  }
}

function keyOf(connection: string, name: string): string {
  return `${connection}/${name}`;
}

// The hub's side of the thread that writes values.

export class ValuesWriter {
  readonly #thread = new StoreThread<Request, Answer>('values-thread', 'writing values');

  /** Starts the thread ahead of the first request; see `StoreThread.start`. */
  start(): void {
    this.#thread.start();
  }

  /** Reads the database, even if it is damaged, and then opens it. Rejects if the thread has ended. */
  open(request: Omit<ReadRequest, 'ask'>): { readonly read: Promise<Read>; readonly opened: Promise<Opened> } {
    const values: ValueRow[] = [];
    const take = (rows: unknown) => values.push(...(rows as ValueRow[]));
    const read = this.#thread.ask({ ask: 'read', ...request }, [], take).then((answer): Read => {
      const { held, ...rest } = (answer as { read: Read }).read;
      return { ...rest, held: held && { ...held, values } };
    });
    const opened = Promise.all([read, this.#thread.ask({ ask: 'open' })]).then(([{ held }, answer]) => {
      return { ...(answer as { opened: Omit<Opened, 'held'> }).opened, held };
    });
    return { read, opened };
  }

  /** Writes a batch. Resolves as soon as the batch is on disk or the write has failed. Rejects if the thread has ended. */
  async write(batch: Batch): Promise<Written> {
    const values = packRows(batch.values);
    const question: Request = { ask: 'write', batch: { ...batch, values } };
    return ((await this.#thread.ask(question, buffersOf(values))) as { written: Written }).written;
  }

  /** Deletes the values whose addresses are not in the list. Rejects if the thread has ended. */
  async makeRoom(addresses: readonly string[]): Promise<Written> {
    return ((await this.#thread.ask({ ask: 'make room', addresses })) as { written: Written }).written;
  }

  /** Closes the database and ends the thread. */
  end(): Promise<void> {
    return this.#thread.end({ ask: 'close' });
  }
}

// The part of the store that keeps values.

/** The maximum time that the hub waits for the disk at startup, in milliseconds. */
const restoreDeadlineMs = 30_000;

type Context = Pick<
  ConnectionContext<StoreSettings>,
  'id' | 'settings' | 'resolvePath' | 'scheduler' | 'finish' | 'log'
>;
type OpenContext = Pick<Context, 'settings' | 'resolvePath'>;

/** The database of values as opened during the start of the hub, before the connection is running. */
export interface OpenedValues {
  readonly writer: ValuesWriter;
  readonly opened: Promise<Opened>;
  /** The result of reading the contents; undefined if the disk did not answer in time. */
  readonly read: Read | undefined;
}

/** A writer whose thread has been started while the flow files are being checked; undefined if there is none. */
let prepared: ValuesWriter | undefined;

export function prepareValues(): void {
  prepared ??= new ValuesWriter();
  prepared.start();
}

function takeWriter(): ValuesWriter {
  const writer = prepared ?? new ValuesWriter();
  prepared = undefined;
  return writer;
}

/** Opens the database of values during the start of the hub, and waits for the contents. */
export async function openValues(context: OpenContext): Promise<OpenedValues> {
  const writer = takeWriter();
  const opening = writer.open(requestOf(context, true));
  const read = await within(
    opening.read.catch(() => undefined),
    restoreDeadlineMs,
  );
  const opened = read === undefined ? opening.opened.then(tooLate) : opening.opened;
  opened.catch(() => {}); // the connection reports the error as soon as it is running
  return { writer, opened, read };
}

function tooLate(opened: Opened): Opened {
  const loss = `the disk did not answer within ${restoreDeadlineMs / 1000} s: the hub has started without the stored values`;
  return { ...opened, losses: [...opened.losses, loss] };
}

/** Creates the part of a store that keeps values. Calls `reportOpen` when the database has been opened or closed. */
export function valuesOf(
  context: Context,
  hub: HubPort,
  restored: OpenedValues | undefined,
  snapshots: SnapshotShelf,
  reportOpen: (isOpen: boolean) => void,
): Part {
  const { id, settings, resolvePath, scheduler, finish, log } = context;
  const isSelected = createSelection(settings.values);
  const giveBack = settings.shared ? createGiveBack(id, hub.persistence, log, isSelected) : () => {};
  let first = restored;
  return runKeeper(
    (report) => {
      const { writer = takeWriter(), opened } = first ?? {};
      first = undefined;
      const copy = new HourlyCopy(filesOf(resolvePath(settings.folder), 'values'));
      const request = requestOf(context, settings.shared);
      const options = {
        hub,
        writer,
        copy,
        snapshots,
        scheduler,
        isSelected,
        request,
        log,
        giveBack,
        reportOpen,
      };
      return new ValuesKeeper(options, opened, report);
    },
    hub,
    finish,
  );
}

function requestOf({ settings, resolvePath }: OpenContext, isRead: boolean) {
  return { folder: resolvePath(settings.folder), maxBytes: roomOf(settings.maxSize).valuesBytes, isRead };
}

/** Returns the stored values that are selected, for the hub to restore. The causes are parsed only when `explain` needs them. */
export function keptOf(rows: readonly ValueRow[], isSelected: (address: string) => boolean): KeptValue[] {
  return rows
    .filter(([address]) => isSelected(address))
    .map(([address, type, value, time, causes]) => {
      return { address, value, time, readCause: () => readCauses({ address, type, value, time }, causes) };
    });
}

/**
 * Returns a function that restores the values that the other hub of a pair has stored in the same folder, once this hub owns the folder.
 * Call this function with the contents of the database whenever the database is opened. The hub may wait for the first call.
 */
function createGiveBack(id: string, persistence: PersistencePort, log: Log, isSelected: (address: string) => boolean) {
  let isFirst = true;
  return (held: Opened['held']) => {
    const values = keptOf(held?.values ?? [], isSelected);
    const isTaken = persistence.giveBack({ values, memories: held?.memories ?? [] }, id);
    if (isTaken) log.info({ values: values.length }, `restored ${counted(values.length, 'value')}`);
    else if (isFirst)
      log.warn({}, 'no values were restored: the connections started before the stored values were read');
    isFirst = false;
  };
}
