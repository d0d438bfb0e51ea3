// Keeps the values on the disk those of the hub: 100 ms after a change what has changed is written in one transaction. What
// cannot be written stays in the hub, which knows the newest anyhow, and is written once that is possible again.
import { groupDigits } from '../../../model/digits.ts';
import type { Parameter } from '../../../model/parameter.ts';
import { within } from '../../../model/time/deadline.ts';
import { Durations } from '../../../model/time/duration.ts';
import { Pause } from '../../../model/time/wall-clock.ts';
import type { ConnectionContext, ConnectionEvent, Log } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { Archive, KeptValue, PersistencePort, ValuesArchive } from '../../persistence.ts';
import { HourlyCopy } from '../hourly-copy.ts';
import { Keeper, type KeeperOptions, runKeeper, type Wrote } from '../keeper.ts';
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
  OpenRequest,
  Request,
  ValueRow,
  Written,
} from '../thread/values/values-messages.ts';
import { type Gathered, gather, isDefault, LongValues, rowOf } from './gather.ts';
import { CausesWriter, readCauses } from './kept-causes.ts';
import { ValueShares } from './shares.ts';

/** How many values are counted at once. */
const countedAtOnce = 1000;
/** How much is written with a batch of what had no room before. */
const fittingBytes = 512 * 1024;

interface ValuesOptions extends KeeperOptions {
  readonly writer: ValuesWriter;
  /** The snapshots, which are written with the values. */
  readonly snapshots: SnapshotShelf;
  /** What the first opening comes to, where the hub has restored its values from it. */
  readonly opened: Promise<Opened> | undefined;
  readonly isSelected: (address: string) => boolean;
  readonly request: Omit<OpenRequest, 'ask'>;
  readonly log: Log;
  /** Is handed what the database held, whenever it is opened while the hub runs. */
  giveBack(held: Opened['held']): void;
  /** Hears whether the database is open: then the folder belongs to this hub. */
  reportOpen(isOpen: boolean): void;
}

class ValuesKeeper extends Keeper implements ValuesArchive {
  readonly archive: Archive = { values: this };
  readonly flushDurations = new Durations();
  protected readonly tickMs = 100;
  readonly #options: ValuesOptions;
  readonly #memories: Memories;
  readonly #causes = new CausesWriter();
  readonly #wanted = new WeakMap<Parameter, boolean>();
  #opened: Promise<Opened> | undefined;
  /** All changes up to this revision are on the disk, or wait among the long ones. */
  #written: number;
  /** Long values that are not on the disk yet. */
  readonly #long = new LongValues();
  /** Who takes how much; undefined: there is room for all. */
  #shares: ValueShares | undefined;
  /** Values that are kept no longer, and are still on the disk. */
  #forgotten: Parameter[] = [];
  /** Whether what belongs to no parameter any more has been forgotten, since something was written or a parameter was removed. */
  #hasMadeRoom = false;
  /** How often a value was refused until nobody was counted any more. */
  #refusals = 0;
  /** Who was named in the log. */
  readonly #reportedRefused = new Set<string>();

  constructor(options: ValuesOptions, report: (event: ConnectionEvent) => void) {
    super('values', options, report);
    this.#options = options;
    this.#opened = options.opened;
    this.#memories = new Memories(options.hub.persistence);
    this.#written = options.hub.revision;
    this.listening.add(
      options.hub.removed$.subscribe((parameter) => {
        this.#hasMadeRoom = false;
        this.#shares?.forget(parameter);
        this.#long.delete(parameter);
        if (this.#shares !== undefined) this.pause.wake();
      }),
    );
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
    const opened = await (restored ?? writer.open(request));
    if (restored === undefined && !this.isEnding) giveBack(opened.held);
    snapshots.adopt(opened);
    this.noteOpened(opened);
    this.isOpen &&= !this.isEnding; // what another hub frees meanwhile is not ours
    reportOpen(this.isOpen);
  }

  /** Everything is to be written: what the disk has of it is not known. */
  #renew(): void {
    this.#written = 0;
    this.#hasMadeRoom = false;
    this.#long.clear();
    this.#memories.renew();
    this.#options.snapshots.renew();
  }

  protected async write(): Promise<Wrote> {
    const isKept = (parameter: Parameter) => this.#isWanted(parameter);
    const gathered = gather(this.#options.hub, this.#written, isKept, this.#causes, this.#long);
    const { values, forgotten } = this.#within(gathered);
    const memories = this.#memories.take();
    const snapshots = this.#options.snapshots.take();
    const isEmpty = values.length + forgotten.length + memories.length === 0 && snapshots === undefined;
    if (!isEmpty) {
      const batch = { values, memories, snapshots, forgotten: forgotten.map(({ address }) => address) };
      if (!(await this.#isOnDisk(batch))) {
        this.#forgotten.push(...forgotten);
        return this.trouble === undefined ? 'more' : 'all';
      }
    }
    for (const parameter of gathered.parameters) this.#long.delete(parameter);
    this.#written = gathered.revision;
    this.rate.add(this.#options.scheduler.now(), values.length);
    this.#memories.written(memories);
    if (snapshots !== undefined) this.#options.snapshots.written(snapshots);
    return gathered.isFull ? 'more' : isEmpty ? 'nothing' : 'all';
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
    this.#reportRefused();
    return { values: [...rows.values()], forgotten: [...forgotten] };
  }

  /** Writes a batch; returns whether it is on the disk. */
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
    if (written.state === 'full' && written.isUsedUp && (await this.#giveWay())) this.noteTrouble(undefined);
    return false;
  }

  /** Has those give way who take most. Returns whether anything has changed by that. */
  async #giveWay(): Promise<boolean> {
    if (this.#shares === undefined && (await this.#count())) return true;
    const gone = this.#shares!.shrink();
    this.#forgotten.push(...gone);
    this.#reportRefused();
    return gone.length > 0;
  }

  /**
   * From now on it is counted who takes how much. What changes meanwhile is counted when it is written. Returns whether somebody has to give
   * way by that.
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

  /** Names in the log and in the audit whose values are not kept, once until all are. */
  #reportRefused(): void {
    const { log, hub } = this.#options;
    for (const [writer, values] of this.#shares?.refused() ?? []) {
      if (this.#reportedRefused.has(writer)) continue;
      this.#reportedRefused.add(writer);
      const text = `values of ${writer} are not kept, as it takes most of the room that maxSize leaves to values`;
      log.warn({ writer, values }, text, `not kept ${writer}`);
      const after = `${groupDigits(values)} values are not kept`;
      const cause = 'it takes most of the room that maxSize leaves to values';
      hub.persistence.note({ kind: 'lost', user: writer, address: '', after, cause });
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

  #isWanted(parameter: Parameter): boolean {
    let isWanted = this.#wanted.get(parameter);
    if (isWanted === undefined) {
      isWanted = this.#options.hub.persistence.isKept(parameter) && this.#options.isSelected(parameter.address);
      this.#wanted.set(parameter, isWanted);
    }
    return isWanted;
  }
}

// What connections have under way, as it is to be written: as JSON, and only where it is another than on the disk.

type Rows = Batch['memories'];

class Memories {
  readonly #persistence: PersistencePort;
  /** What is on the disk, by connection and name. */
  readonly #texts = new Map<string, string>();

  constructor(persistence: PersistencePort) {
    this.#persistence = persistence;
  }

  /** What is to be written; until it has been, `renew` makes it so again. */
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

  /** Nothing is known to be on the disk. */
  renew(): void {
    this.#texts.clear();
    this.#persistence.renewMemories();
  }
}

function keyOf(connection: string, name: string): string {
  return `${connection}/${name}`;
}

// The thread that writes values, seen from the hub's.

export class ValuesWriter {
  readonly #thread = new StoreThread<Request, Answer>('values-thread', 'writes values');

  /** Opens the database, whatever has become of it. Errors: when the thread has ended. */
  async open(request: Omit<OpenRequest, 'ask'>): Promise<Opened> {
    return ((await this.#thread.ask({ ask: 'open', ...request })) as { opened: Opened }).opened;
  }

  /** Writes a batch; when it resolves as written, it is on the disk. Errors: when the thread has ended. */
  async write(batch: Batch): Promise<Written> {
    const values = packRows(batch.values);
    const question: Request = { ask: 'write', batch: { ...batch, values } };
    return ((await this.#thread.ask(question, buffersOf(values))) as { written: Written }).written;
  }

  /** Forgets the values of all other addresses. Errors: when the thread has ended. */
  async makeRoom(addresses: readonly string[]): Promise<Written> {
    return ((await this.#thread.ask({ ask: 'make room', addresses })) as { written: Written }).written;
  }

  /** Closes the database and ends the thread. */
  end(): Promise<void> {
    return this.#thread.end({ ask: 'close' });
  }
}

// The values as a part of the store.

/** How long the start of the hub waits for the disk. */
const restoreDeadlineMs = 30_000;

type Context = Pick<
  ConnectionContext<StoreSettings>,
  'id' | 'settings' | 'resolvePath' | 'scheduler' | 'finish' | 'log'
>;
type OpenContext = Pick<Context, 'settings' | 'resolvePath'>;

/** A database that was opened for the start of the hub, until the connection runs. */
export interface OpenedValues {
  readonly writer: ValuesWriter;
  readonly opened: Promise<Opened>;
  /** Undefined: the disk did not answer in time. */
  readonly result: Opened | undefined;
}

/** Opens the database for a start of the hub, and waits for what it holds. */
export async function openValues(context: OpenContext): Promise<OpenedValues> {
  const writer = new ValuesWriter();
  const opening = writer.open(requestOf(context, true));
  const result = await within(
    opening.catch(() => undefined),
    restoreDeadlineMs,
  );
  const opened = result === undefined ? opening.then(tooLate) : opening;
  opened.catch(() => {}); // the connection tells it when it runs
  return { writer, opened, result };
}

function tooLate(opened: Opened): Opened {
  const loss = `the disk did not answer within ${restoreDeadlineMs / 1000} s: the hub has started without the values kept there`;
  return { ...opened, losses: [...opened.losses, loss] };
}

/** Keeps values. `tellOpen` hears whether the database is open. */
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
      const { writer = new ValuesWriter(), opened } = first ?? {};
      first = undefined;
      const copy = new HourlyCopy(filesOf(resolvePath(settings.folder), 'values'));
      const request = requestOf(context, settings.shared);
      const options = {
        hub,
        writer,
        copy,
        snapshots,
        scheduler,
        opened,
        isSelected,
        request,
        log,
        giveBack,
        reportOpen,
      };
      return new ValuesKeeper(options, report);
    },
    hub,
    finish,
  );
}

function requestOf({ settings, resolvePath }: OpenContext, isRead: boolean) {
  return { folder: resolvePath(settings.folder), maxBytes: roomOf(settings.maxSize).valuesBytes, isRead };
}

/** The values as the hub takes them back. Their causes are read when somebody asks why they are so. */
export function keptOf(rows: readonly ValueRow[], isSelected: (address: string) => boolean): KeptValue[] {
  return rows
    .filter(([address]) => isSelected(address))
    .map(([address, type, value, time, causes]) => {
      return { address, value, time, readCause: () => readCauses({ address, type, value, time }, causes) };
    });
}

/**
 * Gives back what another hub of a pair has kept in the same folder, once the folder is that of this hub: to be called with what the
 * database held whenever it was opened. The first time the hub may wait for it.
 */
function createGiveBack(id: string, persistence: PersistencePort, log: Log, isSelected: (address: string) => boolean) {
  let isFirst = true;
  return (held: Opened['held']) => {
    const values = keptOf(held?.values ?? [], isSelected);
    const isTaken = persistence.giveBack({ values, memories: held?.memories ?? [] }, id);
    if (isTaken) log.info({ values: values.length }, `gives back ${values.length} values`);
    else if (isFirst) log.warn({}, 'gives nothing back: connections have not waited any longer');
    isFirst = false;
  };
}
