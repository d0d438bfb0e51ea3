// Puts every change that is to be recorded into columns, on the hub's own thread: as little as possible is done for each.
import type { Change, Origin, Parameter } from '../../../model/parameter.ts';
import { beginningOf } from '../../../model/printable.ts';
import { type ClockJump, wallClock } from '../../../model/time/wall-clock.ts';
import { writerName } from '../../../model/writer.ts';
import type { HubPort, Parameters } from '../../hub-port.ts';
import { ColumnQueue } from './columns.ts';
import type { Changes, JumpRow, ParameterRow, WriterRow } from './history-messages.ts';
import { createRuleFinder, type HistoryRule } from './history-rules.ts';
import { maxTextUnits } from './history-tables.ts';

/** So many jumps of the clock are told at most between two times that changes are handed over: the newest. */
const mostJumps = 100;

/** What is known of a parameter. */
interface Entry {
  /** Its number in the columns, 0: it has none yet. */
  number: number;
  readonly parameter: Parameter;
  /** The place of its rule, -1: it is not recorded. */
  readonly rule: number;
  readonly everyMs: number;
  readonly deadband: number;
  /** The number that was recorded last. */
  last: number;
  /** When another hub has told the last change, by its clock. */
  reportedAt: number;
  /** The last change of an interval that is not over, and the time at which it is to be recorded. */
  pending: Change | undefined;
  pendingAt: number;
}

type Port = Parameters & Pick<HubPort, 'startedAt'>;

export class Recorder {
  readonly #hub: Port;
  readonly #now: () => number;
  readonly #rules: readonly HistoryRule[];
  readonly #ruleOf: (address: string) => number | undefined;
  readonly #entries = new Map<Parameter, Entry>();
  readonly #pending = new Set<Entry>();
  readonly #numbering = new Numbering();
  readonly #queue: ColumnQueue;
  /** What changed while nobody recorded. */
  #catchUp: CatchUp | undefined;
  #jumps: JumpRow[] = [];
  readonly #subscription;

  /**
   * Records what is known, and everything from now on. `isOwn` tells the store's own parameters. `onHalfFull` is called when it is time to
   * hand over.
   */
  constructor(
    hub: Port,
    rules: readonly HistoryRule[],
    isOwn: (address: string) => boolean,
    onHalfFull: () => void,
    clock = wallClock,
  ) {
    const ruleOf = createRuleFinder(rules);
    this.#hub = hub;
    this.#now = clock.now;
    this.#rules = rules;
    this.#ruleOf = (address) => (isOwn(address) ? undefined : ruleOf(address));
    this.#queue = new ColumnQueue(onHalfFull);
    this.#subscription = hub.changes$.subscribe((change) => this.#take(change));
    this.#subscription.add(hub.removed$.subscribe((parameter) => this.#forget(parameter)));
    this.#subscription.add(clock.watch((jump) => this.#jump(jump)));
    this.startCatchUp();
  }

  /** The changes that wait for the disk. */
  get queue(): Pick<ColumnQueue, 'lost' | 'isEmpty' | 'isLosing' | 'isHalfFull' | 'giveBack'> {
    return this.#queue;
  }

  /** Whether it is still finding out what has changed meanwhile. */
  get isCatchingUp(): boolean {
    return this.#catchUp !== undefined;
  }

  /**
   * Records what is known: the last change of each parameter that has changed after the revision. What was restored counts as
   * changed at the start of the hub.
   */
  startCatchUp(revision = 0): void {
    this.#catchUp = new CatchUp(this.#hub, revision);
    this.catchUp();
  }

  /** Goes one step on with it. */
  catchUp(): void {
    const catchUp = this.#catchUp;
    for (let looked = 0; catchUp !== undefined && looked < catchUpStep; looked++) {
      if (this.#queue.isLosing) return;
      const change = catchUp.next();
      if (change === undefined) {
        this.#catchUp = undefined;
        return;
      }
      const entry = this.#entryOf(change.parameter);
      const time = change.origin.kind === 'restored' ? this.#hub.startedAt : change.time;
      if (entry.rule >= 0) {
        if (!this.#add(entry, change, time)) return;
        entry.last = change.value as number;
      }
      catchUp.place = change.revision;
    }
  }

  /** Goes on after changes were lost, if there is room again. */
  goOn(now: number, reason: string): void {
    const revision = this.#queue.goOn(now, reason);
    if (revision !== undefined) this.startCatchUp(Math.min(this.#catchUp?.place ?? revision, revision));
  }

  /** Takes everything that waits. Its buffers come back later. */
  take(now: number): { readonly changes: Changes; readonly transfer: ArrayBuffer[] } {
    this.#recordPending(now);
    const columns = this.#queue.take();
    const handed = columns.map((one) => one.hand());
    const changes = { columns: handed, ...this.#numbering.take(), until: now, jumps: this.#jumps.splice(0) };
    return { changes, transfer: columns.map(({ buffer }) => buffer) };
  }

  end(): void {
    this.#subscription.unsubscribe();
    this.#recordPending(Number.POSITIVE_INFINITY);
  }

  #take(change: Change): void {
    const entry = this.#entryOf(change.parameter);
    if (entry.rule < 0) return;
    if (entry.deadband > 0) {
      if (Math.abs((change.value as number) - entry.last) < entry.deadband) return;
      entry.last = change.value as number;
    }
    const now = this.#now();
    const time = change.time === now ? now : this.#timeOf(change, entry, now);
    if (entry.everyMs === 0) this.#add(entry, change, time);
    else this.#thin(entry, change, time);
  }

  /** What the clock of another hub has shown counts where it can be: nothing goes back, or is still to come. */
  #timeOf({ time, parameter, origin }: Change, entry: Entry, now: number): number {
    if (origin.kind === 'restored') return now;
    if (parameter.remote === undefined) return time;
    entry.reportedAt = time > now || time < entry.reportedAt ? now : time;
    return entry.reportedAt;
  }

  /** What is recorded from now on has another time. What waits for the end of its interval is of the time before. */
  #jump(jump: ClockJump): void {
    this.#recordPending(Number.POSITIVE_INFINITY);
    this.#queue.jump(jump);
    if (this.#jumps.length === mostJumps) this.#jumps.shift();
    this.#jumps.push({ ...jump, revision: this.#hub.revision });
  }

  /** Keeps the last change of each interval: it is recorded once the interval is over. */
  #thin(entry: Entry, change: Change, time: number): void {
    const { pending, everyMs } = entry;
    if (pending === undefined) this.#pending.add(entry);
    else if (Math.floor(entry.pendingAt / everyMs) !== Math.floor(time / everyMs))
      this.#add(entry, pending, entry.pendingAt);
    entry.pending = change;
    entry.pendingAt = time;
  }

  #recordPending(now: number): void {
    for (const entry of this.#pending) {
      const change = entry.pending!;
      if (Math.floor(entry.pendingAt / entry.everyMs) === Math.floor(now / entry.everyMs)) continue;
      this.#pending.delete(entry);
      entry.pending = undefined;
      this.#add(entry, change, entry.pendingAt);
    }
  }

  /** Whether there was room. */
  #add(entry: Entry, change: Change, time: number): boolean {
    const columns = this.#queue.roomFor(time, change.revision);
    if (columns === undefined) return false;
    const row = columns.length++;
    const { value, origin, cause } = change;
    columns.time[row] = time;
    columns.revision[row] = change.revision;
    columns.value[row] =
      typeof value === 'string' ? columns.addText(beginningOf(value, maxTextUnits)) : (value as number);
    columns.parameter[row] = entry.number;
    columns.writer[row] = this.#numbering.numberOf(origin);
    columns.source[row] = cause === undefined ? columns.writer[row]! : this.#numbering.numberOfSource(cause);
    columns.cause[row] = cause === undefined ? 0 : this.#numberOfCause(cause.parameter);
    if (cause === undefined) return true;
    columns.causeTime[row] = cause.time;
    columns.causeRevision[row] = cause.revision;
    return true;
  }

  #entryOf(parameter: Parameter): Entry {
    return this.#entries.get(parameter) ?? this.#meet(parameter);
  }

  #meet(parameter: Parameter): Entry {
    const rule = this.#ruleOf(parameter.address) ?? -1;
    const { everyMs = 0, deadband = 0 } = this.#rules[rule] ?? {};
    const isNumber = parameter.type === 'F' || parameter.type === 'I';
    const entry: Entry = {
      number: 0,
      parameter,
      rule,
      everyMs,
      deadband: isNumber ? deadband : 0,
      last: Number.NaN,
      reportedAt: Number.NEGATIVE_INFINITY,
      pending: undefined,
      pendingAt: 0,
    };
    this.#entries.set(parameter, entry);
    if (rule >= 0) entry.number = this.#numbering.name(parameter, rule);
    return entry;
  }

  /** 0: it is no parameter of the hub any more. */
  #numberOfCause(parameter: Parameter): number {
    const known = this.#entries.get(parameter);
    if (known === undefined && this.#hub.find(parameter.address) !== parameter) return 0;
    const entry = known ?? this.#meet(parameter);
    entry.number ||= this.#numbering.name(parameter, entry.rule);
    return entry.number;
  }

  #forget(parameter: Parameter): void {
    const entry = this.#entries.get(parameter);
    if (entry === undefined) return;
    if (entry.pending !== undefined) this.#add(entry, entry.pending, entry.pendingAt);
    this.#pending.delete(entry);
    this.#entries.delete(parameter);
    if (entry.number > 0) this.#numbering.retire(entry.number);
  }
}

// Goes through the parameters that changed while nobody recorded, in the order of their revisions.

/** How many parameters are looked at in one step. */
const catchUpStep = 5000;

class CatchUp {
  readonly #changed: Iterator<Parameter>;
  readonly #until: number;
  /** The revision that it has come to. */
  place: number;

  /** From a revision on, up to the present one: what changes later is recorded anyway. */
  constructor(hub: Parameters, revision: number) {
    this.#changed = hub.changedSince(revision)[Symbol.iterator]();
    this.#until = hub.revision;
    this.place = revision;
  }

  /** The last change of the next parameter; undefined: that was all. */
  next(): Change | undefined {
    const parameter: Parameter | undefined = this.#changed.next().value;
    const change = parameter?.lastChange;
    return change !== undefined && change.revision <= this.#until ? change : undefined;
  }
}

// The numbers that stand for parameters and writers in columns, and what the thread has yet to be told of them.

/** A chain of causes is longer than this only when something is wrong with it; the graph keeps fewer. */
const longestChain = 256;

class Numbering {
  #parameterRows: ParameterRow[] = [];
  #writerRows: WriterRow[] = [];
  readonly #writers = new Map<Origin, number>();
  /** Numbers of parameters that are no more: they may be used again once the thread has what was recorded of them. */
  #retired: number[] = [];
  readonly #free: number[] = [];
  #numbers = 0;

  /** Gives a parameter a number; `rule` is the place of its rule, -1: it is not recorded. */
  name({ address, type }: Parameter, rule: number): number {
    const number = this.#free.pop() ?? ++this.#numbers;
    this.#parameterRows.push([number, address, type, rule]);
    return number;
  }

  /** The parameter of this number is no more. */
  retire(number: number): void {
    this.#retired.push(number);
  }

  /** The number of a writer, until names are taken. */
  numberOf(origin: Origin): number {
    return this.#writers.get(origin) ?? this.#nameWriter(origin);
  }

  /** The number of who wrote the first change of a chain. */
  numberOfSource(change: Change): number {
    let first = change;
    for (let link = 0; first.cause !== undefined && link < longestChain; link++) first = first.cause;
    return this.numberOf(first.origin);
  }

  /** What the thread has to be told, together with everything that was recorded up to now. */
  take(): Pick<Changes, 'parameters' | 'writers'> {
    const names = { parameters: this.#parameterRows, writers: this.#writerRows };
    this.#parameterRows = [];
    this.#writerRows = [];
    this.#writers.clear();
    this.#free.push(...this.#retired.splice(0));
    return names;
  }

  #nameWriter(origin: Origin): number {
    const number = this.#writerRows.push([origin.kind, writerName(origin), origin.file ?? '']);
    this.#writers.set(origin, number);
    return number;
  }
}
