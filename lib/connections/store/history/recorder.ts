// Puts every change that is to be recorded into columns, on the hub's own thread: as little as possible is done for each.

import type { Change, Origin, Parameter } from '../../../model/parameter.ts';
import type { HubPort } from '../../hub-port.ts';
import { Columns, maxColumns } from './columns.ts';
import type { Changes, ParameterRow, WriterRow } from './messages.ts';
import { createRuleFinder, type HistoryRule } from './settings.ts';
import { maxTextUnits } from './tables.ts';

/** A chain of causes is longer than this only when something is wrong with it; the graph keeps fewer. */
const longestChain = 256;
/** How many parameters are looked at in one step when it is found out what has changed meanwhile. */
export const catchUpStep = 5000;

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
  /** The last change of an interval that is not over. */
  pending: Change | undefined;
}

/** Goes through the parameters that changed while nobody recorded, in the order of their revisions. */
interface CatchUp {
  readonly changed: Iterator<Parameter>;
  /** What changed later is recorded already. */
  readonly until: number;
  /** The revision that it has come to. */
  place: number;
}

type Port = Pick<HubPort, 'changes$' | 'changedSince' | 'find' | 'removed$' | 'revision' | 'startedAt'>;

export class Recorder {
  /** How many changes were lost. */
  lost = 0;
  readonly #hub: Port;
  readonly #rules: readonly HistoryRule[];
  readonly #ruleOf: (address: string) => number | undefined;
  readonly #onHalfFull: () => void;
  readonly #entries = new Map<Parameter, Entry>();
  readonly #pending = new Set<Entry>();
  readonly #writers = new Map<Origin, number>();
  #parameterRows: ParameterRow[] = [];
  #writerRows: WriterRow[] = [];
  /** Numbers of parameters that are no more: they may be used again once the thread has what was recorded of them. */
  #retired: number[] = [];
  #free: number[] = [];
  #numbers = 0;
  #columns = new Columns();
  readonly #full: Columns[] = [];
  readonly #spare: ArrayBuffer[] = [];
  #handed = 0;
  /** Since when changes are lost, for want of room, and which revision was the last that is not. */
  #losing: { readonly start: number; readonly revision: number; lost: number } | undefined;
  /** What changed while nobody recorded: it goes through all such parameters, up to a revision. */
  #catchUp: CatchUp | undefined;
  readonly #subscription;

  /** Records what is known, and everything from now on. `isOwn` tells the store's own parameters. `onHalfFull` is called when it is time to hand over. */
  constructor(hub: Port, rules: readonly HistoryRule[], isOwn: (address: string) => boolean, onHalfFull: () => void) {
    const ruleOf = createRuleFinder(rules);
    this.#hub = hub;
    this.#rules = rules;
    this.#ruleOf = (address) => (isOwn(address) ? undefined : ruleOf(address));
    this.#onHalfFull = onHalfFull;
    this.#subscription = hub.changes$.subscribe((change) => this.#take(change));
    this.#subscription.add(hub.removed$.subscribe((parameter) => this.#forget(parameter)));
    this.startCatchUp();
  }

  /** When the oldest change was made that waits here; undefined: none does. */
  get oldest(): number | undefined {
    const columns = this.#full[0] ?? this.#columns;
    return columns.length > 0 ? columns.time[0] : this.#losing?.start;
  }

  get isLosing(): boolean {
    return this.#losing !== undefined;
  }

  /** Whether it is time to hand over. */
  get isHalfFull(): boolean {
    return this.#full.length >= maxColumns / 2;
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
    const changed = this.#hub.changedSince(revision)[Symbol.iterator]();
    this.#catchUp = { changed, until: this.#hub.revision, place: revision };
    this.catchUp();
  }

  /** Goes one step on with it. */
  catchUp(): void {
    const catchUp = this.#catchUp;
    for (let looked = 0; catchUp !== undefined && looked < catchUpStep; looked++) {
      if (this.#losing !== undefined) return;
      const { value: parameter } = catchUp.changed.next();
      const change: Change | undefined = parameter?.lastChange;
      if (change === undefined || change.revision > catchUp.until) {
        this.#catchUp = undefined;
        return;
      }
      const entry = this.#entryOf(change.parameter);
      const time = change.origin.kind === 'restored' ? Math.max(change.time, this.#hub.startedAt) : change.time;
      if (entry.rule >= 0) {
        if (!this.#add(entry, change, time)) return;
        entry.last = change.value as number;
      }
      catchUp.place = change.revision;
    }
  }

  /** Goes on after changes were lost, if there is room again. */
  goOn(now: number, reason: string): void {
    const losing = this.#losing;
    if (losing === undefined || this.#handed + this.#full.length > maxColumns / 2) return;
    this.#full.push(this.#columns);
    this.#columns = this.#newColumns();
    this.#columns.gap = { start: losing.start, end: now, lost: losing.lost, reason };
    this.#losing = undefined;
    this.startCatchUp(Math.min(this.#catchUp?.place ?? losing.revision, losing.revision));
  }

  /** Takes everything that waits. Its buffers come back later. */
  take(now: number): { readonly changes: Changes; readonly transfer: ArrayBuffer[] } {
    this.#recordPending(now);
    this.#full.push(this.#columns);
    const columns = this.#full.splice(0).filter(({ length, gap }) => length > 0 || gap !== undefined);
    this.#handed += columns.length;
    if (columns.includes(this.#columns)) this.#columns = this.#newColumns();
    const handed = columns.map((one) => one.hand());
    const changes = { columns: handed, parameters: this.#parameterRows, writers: this.#writerRows, until: now };
    this.#parameterRows = [];
    this.#writerRows = [];
    this.#writers.clear();
    this.#free.push(...this.#retired.splice(0));
    return { changes, transfer: columns.map(({ buffer }) => buffer) };
  }

  /** Takes buffers back. */
  giveBack(buffers: readonly ArrayBuffer[]): void {
    this.#handed -= buffers.length;
    this.#spare.push(...buffers);
    this.#spare.splice(3);
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
    if (entry.everyMs === 0) this.#add(entry, change, change.time);
    else this.#thin(entry, change);
  }

  /** Keeps the last change of each interval: it is recorded once the interval is over. */
  #thin(entry: Entry, change: Change): void {
    const { pending, everyMs } = entry;
    if (pending === undefined) this.#pending.add(entry);
    else if (Math.floor(pending.time / everyMs) !== Math.floor(change.time / everyMs))
      this.#add(entry, pending, pending.time);
    entry.pending = change;
  }

  #recordPending(now: number): void {
    for (const entry of this.#pending) {
      const change = entry.pending!;
      if (
        now !== Number.POSITIVE_INFINITY &&
        Math.floor(change.time / entry.everyMs) === Math.floor(now / entry.everyMs)
      )
        continue;
      this.#pending.delete(entry);
      entry.pending = undefined;
      this.#add(entry, change, change.time);
    }
  }

  /** Whether there was room. */
  #add(entry: Entry, change: Change, time: number): boolean {
    let columns = this.#columns;
    if (this.#losing !== undefined || (columns.isFull && !this.#makeRoom())) {
      this.lost++;
      this.#losing ??= { start: time, revision: change.revision - 1, lost: 0 };
      this.#losing.lost++;
      return false;
    }
    columns = this.#columns;
    const row = columns.length++;
    const { value, origin } = change;
    columns.time[row] = time;
    columns.revision[row] = change.revision;
    columns.value[row] = typeof value === 'string' ? columns.addText(value.slice(0, maxTextUnits)) : (value as number);
    columns.parameter[row] = entry.number;
    columns.writer[row] = this.#numberOf(origin);
    const { cause } = change;
    columns.source[row] = cause === undefined ? columns.writer[row]! : this.#numberOf(sourceOf(cause));
    columns.cause[row] = cause === undefined ? 0 : this.#numberOfCause(cause.parameter);
    if (cause === undefined) return true;
    columns.causeTime[row] = cause.time;
    columns.causeRevision[row] = cause.revision;
    return true;
  }

  #makeRoom(): boolean {
    const columns = this.#full.length + this.#handed + 1;
    if (columns >= maxColumns) return false;
    this.#full.push(this.#columns);
    this.#columns = this.#newColumns();
    if (this.isHalfFull) this.#onHalfFull();
    return true;
  }

  #newColumns(): Columns {
    return new Columns(this.#spare.pop());
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
      pending: undefined,
    };
    this.#entries.set(parameter, entry);
    if (rule >= 0) this.#name(entry);
    return entry;
  }

  #name(entry: Entry): number {
    const { address, type } = entry.parameter;
    entry.number = this.#free.pop() ?? ++this.#numbers;
    this.#parameterRows.push([entry.number, address, type, entry.rule]);
    return entry.number;
  }

  /** 0: it is no parameter of the hub any more. */
  #numberOfCause(parameter: Parameter): number {
    const known = this.#entries.get(parameter);
    if (known === undefined && this.#hub.find(parameter.address) !== parameter) return 0;
    const entry = known ?? this.#meet(parameter);
    return entry.number || this.#name(entry);
  }

  #forget(parameter: Parameter): void {
    const entry = this.#entries.get(parameter);
    if (entry === undefined) return;
    if (entry.pending !== undefined) this.#add(entry, entry.pending, entry.pending.time);
    this.#pending.delete(entry);
    this.#entries.delete(parameter);
    if (entry.number > 0) this.#retired.push(entry.number);
  }

  #numberOf(origin: Origin): number {
    return this.#writers.get(origin) ?? this.#nameWriter(origin);
  }

  #nameWriter(origin: Origin): number {
    const number = this.#writerRows.push([origin.kind, origin.name, origin.file ?? '']);
    this.#writers.set(origin, number);
    return number;
  }
}

/** Who wrote the first change of a chain. */
function sourceOf(change: Change): Origin {
  let first = change;
  for (let link = 0; first.cause !== undefined && link < longestChain; link++) first = first.cause;
  return first.origin;
}
