// Writes every recorded change into columns. This code runs on the hub's thread and therefore does as little as possible for each change.
import { connectionIdOf } from '../../../model/address.ts';
import { type Change, type Origin, type Parameter, staleSinceOf } from '../../../model/parameter.ts';
import { beginningOf } from '../../../model/printable.ts';
import { type ClockJump, wallClock } from '../../../model/time/wall-clock.ts';
import { writerName } from '../../../model/writer.ts';
import type { HubPort, Parameters } from '../../hub-port.ts';
import type { Rename } from '../../persistence.ts';
import { ColumnQueue } from './columns.ts';
import type { AbsenceRow, Changes, JumpRow, ParameterRow, WriterRow } from './history-messages.ts';
import { createRuleFinder, type HistoryRule } from './history-rules.ts';
import { awayReason, maxTextUnits, noContact } from './history-tables.ts';

/** The maximum number of clock jumps in one message to the thread; if there are more, only the newest are kept. */
const mostJumps = 100;

/** What the recorder knows about a parameter. */
interface Entry {
  /** The number of the parameter in the columns; 0 if the parameter has no number yet. */
  number: number;
  readonly parameter: Parameter;
  /** The index of the rule that selects the parameter; -1 if the parameter is not recorded. */
  readonly rule: number;
  readonly everyMs: number;
  readonly deadband: number;
  /** The last recorded value, if there is a deadband; undefined until then, because V8 keeps numbers such as NaN in objects of their own. */
  last: number | undefined;
  /** The recorded time of the last change that another hub reported; undefined if there is none. */
  reportedAt: number | undefined;
  /** The last change in the current interval, which is recorded when the interval is over. */
  pending: Change | undefined;
  pendingAt: number;
}

type Port = Parameters & Pick<HubPort, 'startedAt'> & { readonly mirroring?: Pick<HubPort['mirroring'], 'stale$'> };

/**
 * Returns whether a parameter is a meter that a rule does not record. Because meters change all the time, they are recorded only if the
 * rule has a pattern that is more specific than `**`.
 */
function isSkippedMeter({ about }: Parameter, rule: HistoryRule | undefined): boolean {
  return about?.class === 'meter' && rule?.include.every((glob) => glob === '**') === true;
}

export class Recorder {
  readonly #hub: Port;
  readonly #now: () => number;
  readonly #rules: readonly HistoryRule[];
  readonly #ruleOf: (address: string) => number | undefined;
  readonly #entries = new Map<Parameter, Entry>();
  readonly #pending = new Set<Entry>();
  readonly #numbering = new Numbering();
  readonly #queue: ColumnQueue;
  /** The catch-up in progress, which records missed changes. */
  #catchUp: CatchUp | undefined;
  #jumps: JumpRow[] = [];
  #renames: Rename[] = [];
  readonly #absences: Absences;
  readonly #subscription;

  /**
   * Records all current values, and from then on all changes. `isOwn` returns whether an address belongs to a parameter of the store
   * itself. `onHalfFull` is called when so many changes are waiting that they should be sent to the thread.
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
    this.#absences = new Absences(hub, clock.now);
    this.#subscription.add(hub.mirroring?.stale$.subscribe((parameters) => this.#absences.look(parameters)));
    this.startCatchUp();
  }

  /** The queue of changes that wait for the disk. */
  get queue(): Pick<ColumnQueue, 'lost' | 'isEmpty' | 'isLosing' | 'isHalfFull' | 'giveBack'> {
    return this.#queue;
  }

  /** Whether a catch-up is in progress. */
  get isCatchingUp(): boolean {
    return this.#catchUp !== undefined;
  }

  /**
   * Starts a catch-up, which records the last change of each parameter that has changed after a revision. A restored value counts as
   * changed when the hub started.
   */
  startCatchUp(revision = 0): void {
    if (revision === 0) this.#absences.begin();
    this.#catchUp = new CatchUp(this.#hub, revision);
    this.catchUp();
  }

  /** Runs one step of the catch-up, if one is in progress. */
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
        if (entry.deadband > 0) entry.last = change.value as number;
      }
      catchUp.place = change.revision;
    }
  }

  /** Resumes recording after a loss of changes if there is space again; `reason` is the reason for the gap. */
  goOn(now: number, reason: string): void {
    const revision = this.#queue.goOn(now, reason);
    if (revision !== undefined) this.startCatchUp(Math.min(this.#catchUp?.place ?? revision, revision));
  }

  /** Removes and returns all waiting changes, with the buffers to transfer. The thread later returns the buffers. */
  take(now: number): { readonly changes: Changes; readonly transfer: ArrayBuffer[] } {
    this.#recordPending(now);
    const columns = this.#queue.take();
    const handed = columns.map((one) => one.hand());
    const [renames, jumps, absences] = [this.#renames.splice(0), this.#jumps.splice(0), this.#absences.take()];
    const changes = { columns: handed, ...this.#numbering.take(), until: now, renames, jumps, absences };
    return { changes, transfer: columns.map(({ buffer }) => buffer) };
  }

  /** Lets the history of a parameter continue under another address. */
  rename(rename: Rename): void {
    this.#renames.push(rename);
    this.#numbering.rename(rename);
  }

  end(): void {
    this.#subscription.unsubscribe();
    this.#recordPending(Number.POSITIVE_INFINITY);
  }

  #take(change: Change): void {
    const entry = this.#entryOf(change.parameter);
    if (entry.rule < 0) return;
    if (entry.deadband > 0) {
      const value = change.value as number;
      if (entry.last !== undefined && Math.abs(value - entry.last) < entry.deadband) return;
      entry.last = value;
    }
    const now = this.#now();
    const time = change.time === now ? now : this.#timeOf(change, entry, now);
    if (entry.everyMs === 0) this.#add(entry, change, time);
    else this.#thin(entry, change, time);
  }

  /** Returns the time to record for a change. The time of another hub is used only if it neither goes back nor lies in the future. */
  #timeOf({ time, parameter, origin }: Change, entry: Entry, now: number): number {
    if (origin.kind === 'restored') return now;
    if (parameter.remote === undefined) return time;
    entry.reportedAt = time > now || time < (entry.reportedAt ?? time) ? now : time;
    return entry.reportedAt;
  }

  /** Records a clock jump. Changes that are waiting for the end of an interval are recorded before the jump. */
  #jump(jump: ClockJump): void {
    this.#recordPending(Number.POSITIVE_INFINITY);
    this.#queue.jump(jump);
    if (this.#jumps.length === mostJumps) this.#jumps.shift();
    this.#jumps.push({ ...jump, revision: this.#hub.revision });
    this.#absences.jump(jump);
  }

  /** Keeps only the last change in each interval, and records it once the interval is over. */
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

  /** Adds a change to the queue. Returns whether there was space for the change. */
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
    const found = this.#ruleOf(parameter.address) ?? -1;
    const rule = isSkippedMeter(parameter, this.#rules[found]) ? -1 : found;
    const { everyMs = 0, deadband = 0 } = this.#rules[rule] ?? {};
    const isNumber = parameter.type === 'F' || parameter.type === 'I';
    const entry: Entry = {
      number: 0,
      parameter,
      rule,
      everyMs,
      deadband: isNumber ? deadband : 0,
      last: undefined,
      reportedAt: undefined,
      pending: undefined,
      pendingAt: 0,
    };
    this.#entries.set(parameter, entry);
    if (rule >= 0) entry.number = this.#numbering.name(parameter, rule);
    return entry;
  }

  /** Returns the number of a parameter that caused a change; 0 if the hub no longer has the parameter. */
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

// Tracks the periods in which a connection's values were stale because its device was offline or its hub was unreachable.

/** The maximum number of absences that wait for the disk; if there are more, only the newest are kept. */
const mostAbsences = 10_000;

type Away = Pick<AbsenceRow, 'start' | 'reason' | 'revision'> & { readonly parameter: Parameter };

class Absences {
  readonly #hub: Parameters;
  readonly #now: () => number;
  /** The ongoing absences, keyed by Connection ID. */
  readonly #away = new Map<string, Away>();
  #rows: AbsenceRow[] = [];
  /** The minimum revision for further absences, so that they come after the last clock jump. */
  #leastRevision = 0;

  constructor(hub: Parameters, now: () => number) {
    this.#hub = hub;
    this.#now = now;
  }

  /** Records all ongoing absences, because the file is new. */
  begin(): void {
    this.#away.clear();
    this.look(this.#hub.parameters());
  }

  /** Records the beginnings and ends of absences, for connections whose parameters have become stale or fresh. */
  look(parameters: Iterable<Parameter>): void {
    for (const parameter of parameters) {
      if (parameter.device?.isPart === true && parameter.remote === undefined) continue; // absences apply to whole connections
      const since = staleSinceOf(parameter);
      if (since === undefined && this.#away.size === 0) continue;
      const connection = connectionIdOf(parameter.address);
      const away = this.#away.get(connection);
      if (since !== undefined && away === undefined) this.#begin(connection, parameter, since);
      else if (since === undefined && away !== undefined) this.#end(connection, away, this.#now());
    }
  }

  /** Ends the ongoing absences at a clock jump, and begins them again at the new time. */
  jump({ before, after }: ClockJump): void {
    this.#leastRevision = this.#hub.revision + 1;
    for (const [connection, away] of [...this.#away]) {
      this.#end(connection, away, before);
      this.#begin(connection, away.parameter, after);
    }
  }

  take(): readonly AbsenceRow[] {
    const isGone = ({ parameter }: Away) => this.#hub.find(parameter.address) !== parameter;
    const gone = [...this.#away].filter(([, away]) => isGone(away)); // a reload has removed these parameters
    for (const [connection, away] of gone) this.#end(connection, away, this.#now());
    if (gone.length > 0) this.look(this.#hub.parameters()); // the connection may still have other parameters
    return this.#rows.splice(0);
  }

  #begin(connection: string, parameter: Parameter, start: number): void {
    const { remote } = parameter;
    const reason = remote?.staleSince === undefined ? awayReason : `${noContact}${remote.hub}`;
    const away = { start, reason, revision: Math.max(this.#hub.revision, this.#leastRevision), parameter };
    this.#away.set(connection, away);
    this.#add(connection, away, undefined);
  }

  #end(connection: string, away: Away, end: number): void {
    this.#away.delete(connection);
    this.#add(connection, away, end);
  }

  #add(connection: string, { start, reason, revision }: Away, end: number | undefined): void {
    if (this.#rows.length === mostAbsences) this.#rows.shift();
    this.#rows.push({ connection, start, end: end && Math.max(start, end), reason, revision });
  }
}

// Iterates over the parameters whose changes were missed, in the order of revisions.

/** The maximum number of parameters that one step visits. */
const catchUpStep = 5000;

class CatchUp {
  readonly #changed: Iterator<Parameter>;
  readonly #until: number;
  /** The revision of the last change that was visited. */
  place: number;

  /** Iterates over the changes after `revision` up to now; later changes are recorded anyway. */
  constructor(hub: Parameters, revision: number) {
    this.#changed = hub.changedSince(revision)[Symbol.iterator]();
    this.#until = hub.revision;
    this.place = revision;
  }

  /** Returns the last change of the next parameter; undefined if there are no more parameters. */
  next(): Change | undefined {
    const parameter: Parameter | undefined = this.#changed.next().value;
    const change = parameter?.lastChange;
    return change !== undefined && change.revision <= this.#until ? change : undefined;
  }
}

// Assigns the numbers that parameters and writers have in the columns, and collects the names that the thread does not know yet.

/** The maximum number of links that are followed in a chain of causes. The graph keeps only shorter chains. */
const longestChain = 256;

class Numbering {
  #parameterRows: ParameterRow[] = [];
  #writerRows: WriterRow[] = [];
  readonly #writers = new Map<Origin, number>();
  /** The numbers of removed parameters. A number becomes available again once its changes have been sent to the thread. */
  #retired: number[] = [];
  readonly #free: number[] = [];
  #numbers = 0;

  /** Returns a new number for a parameter. `rule` is the index of its rule, or -1 if the parameter is not recorded. */
  name({ address, type }: Parameter, rule: number): number {
    const number = this.#free.pop() ?? ++this.#numbers;
    this.#parameterRows.push([number, address, type, rule]);
    return number;
  }

  /** Renames a parameter whose name has not been sent yet. */
  rename({ from, to }: Rename): void {
    this.#parameterRows = this.#parameterRows.map(([number, address, type, rule]) => [
      number,
      address === from ? to : address,
      type,
      rule,
    ]);
  }

  /** Frees the number of a removed parameter once all of its changes have been sent. */
  retire(number: number): void {
    this.#retired.push(number);
  }

  /** Returns the number of a writer, which is valid until `take` is called. */
  numberOf(origin: Origin): number {
    return this.#writers.get(origin) ?? this.#nameWriter(origin);
  }

  /** Returns the number of the writer that made the first change in a chain. */
  numberOfSource(change: Change): number {
    let first = change;
    for (let link = 0; first.cause !== undefined && link < longestChain; link++) first = first.cause;
    return this.numberOf(first.origin);
  }

  /** Removes and returns the new names, which must be sent together with all changes so far. */
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
