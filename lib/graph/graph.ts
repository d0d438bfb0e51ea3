// The keyed graph: one table of parameters, a single entry point for writes, and delivery of all changes in order. Every write is resolved,
// checked, converted and queued. The queue is delivered first in, first out, and writes by observers are queued at its end. A parameter
// stores a value before its observers are notified.
import { type Observable, Subject } from 'rxjs';
import { formatAddress } from '../model/address.ts';
import { HubError } from '../model/error.ts';
import { globToRegExp } from '../model/glob.ts';
import type {
  About,
  Change,
  MirroredChange,
  Origin,
  Parameter,
  ParameterDeclaration,
  Remote,
  RemoteWrite,
} from '../model/parameter.ts';
import { cutText } from '../model/printable.ts';
import type { Durations } from '../model/time/duration.ts';
import { wallClock } from '../model/time/wall-clock.ts';
import { convert, type Value } from '../model/value.ts';
import { isSameWriter } from '../model/writer.ts';
import { Emitter } from './emitter.ts';
import { createNode, type ParameterNode, type Restored, RestoredChange, type StateNode } from './parameter-node.ts';
import { ParameterTable } from './parameter-table.ts';
import { SettleQueue, type SettleTask } from './settle-queue.ts';
import { isLongText } from './text-room.ts';
import { DroppedWrite, LoopError, maxHops, maxWritesPerTurn, reportLoop, TurnTimer, timedEvery } from './turn.ts';

/** The maximum length of a queue that is kept for the next turn. Creating a queue takes half as long as a write. */
const keptQueueLength = 1024;

export class Graph extends ParameterTable {
  readonly #changes = new Emitter<Change>();
  readonly #repeated = new Emitter<Change>();
  readonly #dropped = new Subject<DroppedWrite>();
  readonly #unset = new Subject<Parameter>();
  readonly #wanted = new Subject<Change>();
  readonly #settled = new Subject<SettledWrite>();
  readonly #queue: (PendingChange | undefined)[] = [];
  #queued = 0;
  #writesInTurn = 0;
  #revision = 0;
  #isInTurn = false;
  #turns = 0;
  /** Whether the duration of the current turn is measured. */
  #isTimed = false;
  readonly #timer: TurnTimer;
  #delivering: Change | undefined = undefined;
  /** A change from an earlier turn on whose behalf work is currently running. */
  #earlier: Change | undefined = undefined;
  readonly #settling = new SettleQueue();
  /** Metadata from flow files, with the pattern of the addresses that it describes. */
  #described: readonly { readonly pattern: RegExp; readonly about: About }[] = [];
  /** Metadata from the declarations of connections. */
  readonly #declaredAbout = new WeakMap<ParameterNode, About | undefined>();
  /** Confirmed writes whose outcome has yet to be reported. */
  #confirmed: Change[] = [];
  /** The boolean input of each write of true or false that the destination converted with its own conversion. */
  readonly #meant = new WeakMap<Change, boolean>();

  /** Every change in revision order. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly changes$: Observable<Change> = this.#changes;
  /** Every write that changes nothing. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly repeated$: Observable<Change> = this.#repeated;
  /** Writes dropped by the limits for a turn. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly dropped$: Observable<DroppedWrite> = this.#dropped.asObservable();

  /** Parameters whose value is no longer known. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly unset$: Observable<Parameter> = this.#unset.asObservable();
  /** Writes that a connection has yet to confirm. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly wanted$: Observable<Change> = this.#wanted.asObservable();
  /** The outcomes of writes that a connection had to confirm. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly settled$: Observable<SettledWrite> = this.#settled.asObservable();

  /** Returns the time of day in milliseconds since 1970. */
  readonly now: () => number;

  /** Checks before each turn whether rules and connections may continue; undefined if they may always continue. */
  mayAct: (() => boolean) | undefined = undefined;

  /** `now` returns the time of day in milliseconds since 1970. */
  constructor(now: () => number = wallClock.now) {
    super();
    this.now = now;
    this.#timer = new TurnTimer(now);
  }

  /** The revision of the last change, counted over the whole hub. */
  get revision(): number {
    return this.#revision;
  }

  /** The number of the current or last turn, which differs between turns. */
  get turnNumber(): number {
    return this.#turns;
  }

  /** The durations of turns. One turn in 64 is measured, at most one per millisecond. */
  get turnDurations(): Durations {
    return this.#timer.durations;
  }

  /** The cause of a write made now: the change that is being delivered, or the change on whose behalf work is running. */
  get cause(): Change | undefined {
    return this.#delivering ?? this.#earlier;
  }

  /**
   * Returns the value that a change wrote, or the boolean that its destination converted, because another parameter may convert the boolean
   * differently.
   */
  inputOf(change: Change): Value {
    return this.#meant.get(change) ?? change.value;
  }

  /** Runs work on behalf of a change from an earlier turn. Errors: any error from `work`. */
  onBehalfOf(cause: Change | undefined, work: () => void): void {
    const before = this.#earlier;
    this.#earlier = cause;
    try {
      work();
    } finally {
      this.#earlier = before;
    }
  }

  /**
   * Adds the parameters of a connection, then sets their default values. Existing parameters keep their values. Parameters created together
   * are adjacent in memory, so a rule that writes to thousands of them takes up to a fifth less time.
   */
  declare(owner: Origin, declarations: Iterable<ParameterDeclaration>): void {
    const added: ParameterNode[] = [];
    const defaults: Value[] = [];
    for (const declaration of declarations) {
      const address = formatAddress(owner.name, declaration.id);
      let known = this.find(address);
      if (known?.remote !== undefined && known.owner.hub !== undefined) {
        this.remove([known]); // this hub owns the parameters that it declares
        known = undefined;
      }
      if (known !== undefined) {
        if (known.type !== 'T') known.accept = declaration.accept;
        known.access = declaration.access;
        this.#declaredAbout.set(known, declaration.about);
        known.about = this.#aboutOf(known);
        if (declaration.about !== undefined) this.notifyMarked([known]);
        continue;
      }
      const node = createNode(owner, address, declaration);
      if (declaration.about !== undefined) this.#declaredAbout.set(node, declaration.about);
      if (this.#described.length > 0) node.about = this.#aboutOf(node);
      this.add(node);
      if (declaration.defaultValue === undefined) continue;
      added.push(node);
      defaults.push(declaration.defaultValue);
    }
    this.texts.isOpen = true;
    try {
      for (const [index, node] of added.entries()) this.writeTo(node, defaults[index]!, owner);
    } finally {
      this.texts.isOpen = false;
    }
  }

  /**
   * Sets metadata, keyed by address or glob, including for parameters that are declared later. Later entries take precedence over earlier
   * ones, and all entries take precedence over declarations.
   */
  describe(described: readonly { readonly glob: string; readonly about: About }[]): void {
    if (described.length === 0 && this.#described.length === 0) return;
    this.#described = described.map(({ glob, about }) => ({ pattern: globToRegExp(glob), about }));
    const changed: ParameterNode[] = [];
    for (const node of this.parameters()) {
      const before = node.about;
      node.about = this.#aboutOf(node);
      if (node.about !== before) changed.push(node);
    }
    this.notifyMarked(changed);
  }

  #aboutOf(node: ParameterNode): About | undefined {
    const found = this.#described.filter(({ pattern }) => pattern.test(node.address)).map(({ about }) => about);
    const declared = this.#declaredAbout.get(node);
    return found.length === 0 ? declared : Object.assign({}, declared, ...found);
  }

  /** Returns a stream of the converted values that others write to a parameter, for the parameter's connection. Hot, replays nothing. */
  inbox(address: string): Observable<Value> {
    const node = this.get(address);
    node.inbox ??= new Emitter<Value>();
    return node.inbox;
  }

  /** Returns a stream of the writes that repeat the value of a parameter. Hot, replays nothing; empty for a trigger. */
  repeats(node: ParameterNode): Observable<Value> {
    node.repeats ??= new Emitter<Value>();
    return node.repeats;
  }

  /**
   * Makes the value of a parameter unknown. Only subscribers to the parameter are notified, because the loss of a value is not a change.
   */
  forget(node: StateNode): void {
    if (node.value === undefined) return;
    this.byRevision.remove(node);
    node.value = undefined;
    node.emit(undefined);
    this.#unset.next(node);
  }

  /** Ends the pending write to a parameter with an error, which those who wait for the write receive. */
  settle(node: StateNode, error: HubError): void {
    const { wanted } = node;
    if (wanted === undefined) return;
    node.wanted = undefined;
    this.notifyMarked([node]);
    this.#settled.next({ write: wanted, error });
  }

  /**
   * Resolves when the connection has confirmed the pending write to a parameter, or immediately if no write is pending. Errors:
   * `not-confirmed` after `limitMs` milliseconds, or the error with which the write ended.
   */
  whenConfirmed({ address, wanted }: Parameter, limitMs: number): Promise<void> {
    if (wanted === undefined) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const end = (error: HubError | undefined) => {
        clearTimeout(timer);
        settling.unsubscribe();
        if (error === undefined) resolve();
        else reject(error);
      };
      const timer = setTimeout(() => {
        end(
          new HubError(
            'not-confirmed',
            `${address}: the device has not confirmed the write within ${limitMs / 1000} s`,
          ),
        );
      }, limitMs);
      const settling = this.#settled.subscribe({
        next: ({ write, error }) => {
          if (write === wanted) end(error);
        },
        error: () => {}, // the stream never fails
      });
    });
  }

  /** Writes to an address and returns the converted value. Errors: the same as for `writeTo`, and `unknown-parameter`. */
  write(address: string, input: unknown, origin: Origin): Value {
    return this.writeTo(this.get(address), input, origin);
  }

  /**
   * The single entry point for writes. Returns the converted value. If another hub owns the parameter, the write is only sent to that hub,
   * and the value changes when that hub reports the change. Errors: `read-only`, `not-convertible`, `out-of-range`; `conflict` if a long
   * string does not fit; `unavailable` if this hub detects that it no longer owns the parameter.
   */
  writeTo(
    node: ParameterNode,
    input: unknown,
    origin: Origin,
    cause = this.#delivering ?? this.#earlier,
    hop = this.#nextHop(),
  ): Value {
    if (this.mayAct !== undefined && !this.#isInTurn) this.#look(node, origin);
    const isOwner = origin === node.owner;
    if (!isOwner && (node.access === 'read-only' || node.remote !== undefined))
      return this.#writeElsewhere(node, input, origin);
    const value = isOwner || node.accept === undefined ? convert(node.type, input) : node.accept(input);
    if (isLongText(value)) this.#takeRoom(node, value, origin, cause);
    const change = new PendingChange(node, value, origin, cause, hop, this.now());
    if (typeof input === 'boolean' && node.accept !== undefined) this.#meant.set(change, input);
    if (!this.#isInTurn) this.#turnOf(change);
    else if (hop > maxHops || this.#writesInTurn >= maxWritesPerTurn) this.#drop(change);
    else {
      this.#writesInTurn++;
      this.#queue[this.#queued++] = change;
    }
    return value;
  }

  /** Reserves memory for a long string that is about to be written. Errors: `conflict`. */
  #takeRoom(node: ParameterNode, text: string, origin: Origin, cause: Change | undefined): void {
    this.texts.take(node, text, { origin, cause }, this.#isInTurn ? this.#turns : 0);
  }

  /**
   * Checks whether this hub may still act. The check may transfer the parameter to another hub, in which case the write is refused. Errors:
   * `unavailable`.
   */
  #look(node: ParameterNode, origin: Origin): void {
    const wasOwn = node.remote === undefined;
    this.mayAct!();
    if (wasOwn && node.remote !== undefined && origin !== node.owner)
      throw new HubError('unavailable', `${node.address}: this hub no longer owns this parameter`);
  }

  /**
   * Writes to a parameter of another hub. A separate method, because V8 inlines `writeTo` only while `writeTo` is short. Errors: the same
   * as for `writeTo`.
   */
  #writeElsewhere(node: ParameterNode, input: unknown, origin: Origin): Value {
    if (node.access === 'read-only' || node.remote === undefined) throw readOnly(node);
    void this.writeRemote(node.remote, [{ parameter: node, input }], origin);
    return convert(node.type, input);
  }

  #drop(change: PendingChange): void {
    const isLoop = change.hop > maxHops;
    this.#dropped.next(new DroppedWrite(isLoop ? 'hops' : 'writes', change));
    if (isLoop) reportLoop(change);
  }

  /**
   * Makes the hub that owns parameters write their values in one turn. Never rejects: resolves to the value or the error for each write,
   * which is a `LoopError` beyond the hop limit.
   */
  writeRemote(remote: Remote, writes: readonly RemoteWrite[], origin: Origin): Promise<readonly (Value | Error)[]> {
    const hop = this.#nextHop();
    const cause = this.#delivering ?? this.#earlier;
    if (hop <= maxHops) return remote.write(writes, { origin, cause, hop });
    for (const { parameter } of writes) {
      const change = new PendingChange(parameter as ParameterNode, 1, origin, cause, hop, this.now());
      this.#dropped.next(new DroppedWrite('hops', change));
    }
    const refused = remote.write(writes, { origin, cause, hop }); // the other hub also names the rules
    return refused.then((results) =>
      results.map((result, index) =>
        result instanceof HubError && result.code === 'conflict'
          ? new LoopError(writes[index]!.parameter.address)
          : result,
      ),
    );
  }

  /**
   * Writes on behalf of another hub, which has counted the hops. Errors: the same as for `writeTo`, and `conflict` beyond the hop limit.
   */
  writeFor(node: ParameterNode, input: unknown, origin: Origin, cause: Change | undefined, hop: number): Value {
    if (hop <= maxHops) return this.writeTo(node, input, origin, cause, hop);
    this.#dropped.next(new DroppedWrite('hops', new PendingChange(node, 1, origin, cause, hop, this.now())));
    throw new LoopError(node.address);
  }

  /**
   * Applies a change reported by the owner of a mirrored parameter. Runs within a turn and does not count towards the turn's write limit.
   */
  mirror(node: ParameterNode, reported: MirroredChange): Change {
    const { value, origin, cause, hop, time } = reported;
    const change = new PendingChange(node, value, origin, cause, hop, time);
    this.#queue[this.#queued++] = change;
    return change;
  }

  /**
   * Restores the value that a parameter had in an earlier run of the hub, with a new revision and the old time. No observers are notified,
   * so call this before anything is running. Errors: the same as for `writeTo`, except `read-only`.
   */
  restore(node: StateNode, restored: Restored, origin: Origin): void {
    const value = node.accept === undefined ? convert(node.type, restored.value) : node.accept(restored.value);
    const change = new RestoredChange(node, value, origin, ++this.#revision, restored);
    this.#countTexts(node, change);
    node.lastChange = change;
    this.byRevision.touch(node);
    node.value = value;
    node.emit(value);
  }

  /**
   * Sets a value that a device had before this hub connected to the device. Notifies all observers except those that act on changes, such
   * as rules. Errors: the same as for `writeTo`.
   */
  show(node: StateNode, input: unknown, origin: Origin): void {
    const value = convert(node.type, input);
    const change = new PendingChange(node, value, origin, undefined, 0, this.now());
    this.turn(() => {
      if (isLongText(value)) this.#takeRoom(node, value, origin, undefined);
      this.#countTexts(node, change);
      change.previous = node.value;
      change.revision = ++this.#revision;
      node.lastChange = change;
      this.byRevision.touch(node);
      node.value = value;
      node.show(value);
      this.#changes.emit(change);
    });
  }

  /**
   * Restores a value that another hub stored, within a turn. Notifies all observers, and does not count towards the write limit. Skips a
   * value that can no longer be converted.
   */
  giveBack(node: ParameterNode, { value, time, readCause }: Restored, origin: Origin): void {
    try {
      const converted = node.accept === undefined ? convert(node.type, value) : node.accept(value);
      this.mirror(node, { value: converted, origin, cause: readCause(), hop: 0, time });
    } catch {} // the parameter keeps its default value
  }

  /** Combines all writes in `work` into one turn. If a turn is already in progress, only runs the work. Errors: any error from `work`. */
  turn(work: () => void): void {
    if (this.#isInTurn) {
      work();
      return;
    }
    if (this.mayAct !== undefined) this.mayAct();
    this.#beginTurn();
    try {
      work();
    } finally {
      this.#finishTurn();
    }
  }

  /** Runs the task once in this turn, after the turn's writes have settled. Outside a turn, runs the task in a separate turn. */
  atSettle(task: SettleTask): void {
    this.#settling.add(task, this.#delivering, this.#earlier);
    if (!this.#isInTurn) this.turn(() => {});
  }

  #nextHop(): number {
    return this.#delivering === undefined ? 0 : this.#delivering.hop + 1;
  }

  #beginTurn(): void {
    this.#isInTurn = true;
    if (++this.#turns % timedEvery === 0) this.#isTimed = this.#timer.begin();
  }

  /** Runs a turn that begins with one write. `writeTo` has already checked whether the hub may act. */
  #turnOf(change: PendingChange): void {
    this.#beginTurn();
    this.#finishTurn(change);
  }

  /**
   * Delivers the queued writes and settles the turn even if an observer throws, which observers must not do. Then ends the turn and throws
   * the first error.
   */
  #finishTurn(first?: PendingChange): void {
    const earlier = this.#earlier;
    let failure: { readonly error: unknown } | undefined;
    let index = 0;
    this.#delivering = undefined;
    let next = first;
    for (;;)
      try {
        while (next !== undefined || index < this.#queued) {
          const change: PendingChange = next ?? this.#queue[index]!;
          if (next === undefined) this.#queue[index++] = undefined;
          next = undefined;
          this.#deliver(change);
        }
        if (index > keptQueueLength) this.#queue.length = 0;
        index = this.#queued = 0;
        const due = this.#settling.takeFirst();
        if (due === undefined) break;
        this.#settle(due);
        this.#earlier = earlier;
        this.#delivering = undefined;
      } catch (error) {
        failure ??= { error };
        this.#earlier = earlier;
        this.#delivering = undefined;
      }
    this.#endTurn();
    if (failure !== undefined) throw failure.error;
  }

  #settle(due: SettleTask): void {
    const { delivering, earlier } = due;
    due.delivering = due.earlier = undefined;
    this.#delivering = delivering;
    this.#earlier = earlier;
    due.settle();
  }

  #endTurn(): void {
    this.#writesInTurn = 0;
    this.#isInTurn = false;
    if (!this.#isTimed) return;
    this.#isTimed = false;
    this.#timer.end();
  }

  /** Stores the value, then notifies the observers of the parameter, the observers of all changes, and the parameter's own connection. */
  #deliver(change: PendingChange): void {
    const node = change.parameter;
    if (node.isConfirmed && this.#isWanted(node as StateNode, change)) return;
    const isState = node.type !== 'T';
    this.#delivering = change;
    if (!isState || node.value !== change.value) {
      if (node.type === 'S' && (this.texts.hasAny || isLongText(change.value))) this.#countTexts(node, change);
      change.previous = node.value;
      change.revision = ++this.#revision;
      node.lastChange = change;
      if (isState) {
        this.byRevision.touch(node);
        node.value = change.value;
      }
      if (node.only !== undefined) node.only.next(change.value);
      else node.emit(change.value);
      const changes = this.#changes;
      if (changes.only !== undefined) changes.only.next(change);
      else changes.emit(change);
    } else this.#repeat(node as StateNode, change);
    if (node.inbox !== undefined && change.origin !== node.owner) node.inbox.emit(change.value);
    this.#delivering = undefined;
    if (this.#confirmed.length > 0) this.#reportConfirmed();
  }

  #reportConfirmed(): void {
    const confirmed = this.#confirmed;
    this.#confirmed = [];
    for (const write of confirmed) this.#settled.next({ write, error: undefined });
  }

  /**
   * Passes a write to the connection that has to confirm the write, and records confirmations. Returns true if the value is not to be
   * stored.
   */
  #isWanted(node: StateNode, change: PendingChange): boolean {
    const before = node.wanted;
    if (change.origin === node.owner) {
      // a device may round a number: its value then confirms the write that its connection names as the cause
      if (before === undefined || (before.value !== change.value && change.cause !== before)) return false;
      node.wanted = undefined;
      this.notifyMarked([node]);
      this.#confirmed.push(before);
      return false;
    }
    if (node.inbox === undefined || node.inbox.listenerCount === 0) return false; // no connection would confirm the write
    this.#delivering = change;
    node.wanted = change;
    if (before !== undefined) this.#settled.next({ write: before, error: replaced(node) });
    this.notifyMarked([node]);
    this.#wanted.next(change);
    node.inbox.emit(change.value);
    this.#delivering = undefined;
    return true;
  }

  /** Updates the count of characters in long strings if a change adds or replaces a long string. */
  #countTexts(node: ParameterNode, change: Change): void {
    if (isLongText(change.value) || isLongText(node.value) || isLongText(node.lastChange?.previous))
      this.texts.count(node, change);
  }

  /** Reports a write that does not change the value of its parameter. */
  #repeat(node: StateNode, change: PendingChange): void {
    if (node.remote !== undefined) adopt(node, change);
    else {
      node.repeats?.emit(change.value);
      this.#repeated.emit(change);
    }
  }
}

/**
 * Adopts a new time and writer that the owner of a mirrored parameter reports for the same value. No observers are notified, and the
 * revision stays the same.
 */
function adopt(node: StateNode, change: PendingChange): void {
  const { origin, time, revision, previous } = node.lastChange!;
  if (time === change.time && isSameWriter(origin, change.origin)) return;
  change.previous = previous;
  change.revision = revision;
  node.lastChange = change;
}

function replaced({ address }: ParameterNode): HubError {
  return new HubError('conflict', `${address}: a newer write replaced this one before the device confirmed it`);
}

/** The outcome of a write that a connection had to confirm; `error` is undefined if the write was confirmed. */
export interface SettledWrite {
  readonly write: Change;
  readonly error: HubError | undefined;
}

function readOnly({ address }: ParameterNode): HubError {
  return new HubError('read-only', `${address}: expected a writable parameter, but this one is read-only`);
}

// Changes as the graph creates them. A change keeps the chain of changes that led to it. Within a turn, the chain is complete. Across
// turns, the chain loses its oldest changes, so that a loop through timers does not keep its whole history.

/** The minimum number of preceding changes that a change keeps. A change always keeps fewer than twice this number. */
export const keptCauses = 64;

/** A change, created when a value is written. The previous value and the revision are set on delivery. */
class PendingChange implements Change {
  readonly parameter: ParameterNode;
  readonly value: Value;
  previous: Value | undefined = undefined;
  readonly origin: Origin;
  readonly cause: Change | undefined;
  readonly depth: number;
  readonly hop: number;
  revision = 0;
  readonly time: number;

  constructor(
    parameter: ParameterNode,
    value: Value,
    origin: Origin,
    cause: Change | undefined,
    hop: number,
    time: number,
  ) {
    this.parameter = parameter;
    this.value = value;
    this.origin = origin;
    const depth = cause === undefined ? 0 : cause.depth + 1;
    this.cause = depth % keptCauses !== 0 || depth <= keptCauses ? withShortTexts(cause) : shorten(cause!);
    this.depth = depth;
    this.hop = hop;
    this.time = time;
  }
}

/** The number of characters of a long string that a cause keeps, because replaced strings are no longer counted. */
const causeTextLength = 256;

/** Returns a cause, or a copy that contains only the beginnings of the long strings in the cause. */
export function withShortTexts(cause: Change | undefined): Change | undefined {
  if (cause === undefined || !(isLongText(cause.value) || isLongText(cause.previous))) return cause;
  const { value, previous } = cause;
  return { ...cause, value: shortText(value), ...(previous !== undefined && { previous: shortText(previous) }) };
}

const shortText = (value: Value) => (isLongText(value) ? cutText(value, causeTextLength) : value);

/** Copies the newest changes of a chain. Other chains that contain the original changes remain complete. */
function shorten(newest: Change): Change {
  const links: Change[] = [];
  for (let link: Change | undefined = newest; link !== undefined && links.length < keptCauses; link = link.cause)
    links.push(link);
  return links.reduceRight<Change | undefined>((cause, link) => ({ ...link, cause }), undefined)!;
}
