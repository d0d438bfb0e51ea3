// The keyed graph: one table of parameters, one way in, and every change is told in order.
// Every write is found, checked, converted and queued. The queue is delivered first in, first out, and what an observer
// writes meanwhile is delivered behind what is queued. A parameter stores a value before it tells its observers.
import { type Observable, Subject } from 'rxjs';
import { formatAddress } from '../model/address.ts';
import { HubError } from '../model/error.ts';
import type { Change, MirroredChange, Origin, ParameterDeclaration, Remote, RemoteWrite } from '../model/parameter.ts';
import type { Durations } from '../model/time/duration.ts';
import { wallClock } from '../model/time/wall-clock.ts';
import { convert, type Value } from '../model/value.ts';
import { isSameWriter } from '../model/writer.ts';
import { Emitter } from './emitter.ts';
import { createNode, type ParameterNode, type Restored, RestoredChange, type StateNode } from './parameter-node.ts';
import { ParameterTable } from './parameter-table.ts';
import { SettleQueue, type SettleTask } from './settle-queue.ts';
import { isLongText } from './text-room.ts';
import { DroppedWrite, maxHops, maxWritesPerTurn, reportLoop, TurnTimer, timedEvery, tooManyHops } from './turn.ts';

/** How long a queue is kept for the next turn; to make a new one takes half as long as a write. */
const keptQueueLength = 1024;

export class Graph extends ParameterTable {
  readonly #changes = new Emitter<Change>();
  readonly #repeated = new Emitter<Change>();
  readonly #dropped = new Subject<DroppedWrite>();
  readonly #queue: (PendingChange | undefined)[] = [];
  #queued = 0;
  #writesInTurn = 0;
  #revision = 0;
  #isInTurn = false;
  #turns = 0;
  /** Whether the duration of this turn is measured. */
  #isTimed = false;
  readonly #timer: TurnTimer;
  #delivering: Change | undefined = undefined;
  /** A change of an earlier turn on whose behalf work runs. */
  #earlier: Change | undefined = undefined;
  readonly #settling = new SettleQueue();
  /** Writes of true or false that their destination has read in its own way. */
  readonly #meant = new WeakMap<Change, boolean>();

  /** Every change in revision order. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly changes$: Observable<Change> = this.#changes;
  /** Every write that changes nothing. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly repeated$: Observable<Change> = this.#repeated;
  /** Writes dropped by the limits of a turn. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly dropped$: Observable<DroppedWrite> = this.#dropped.asObservable();

  /** The time of day in milliseconds since 1970. */
  readonly now: () => number;

  /** Looks whether rules and connections may go on, before each turn; undefined: nobody has to look. */
  mayAct: (() => boolean) | undefined = undefined;

  /** `now` tells the time of a change in milliseconds since 1970. */
  constructor(now: () => number = wallClock.now) {
    super();
    this.now = now;
    this.#timer = new TurnTimer(now);
  }

  /** The hub-wide count of changes. */
  get revision(): number {
    return this.#revision;
  }

  /** Another number for each turn. */
  get turnNumber(): number {
    return this.#turns;
  }

  /** How long turns take: of one in 64, at most one in a millisecond. */
  get turnDurations(): Durations {
    return this.#timer.durations;
  }

  /** The cause of what is written at this moment: the change that is being told, or on whose behalf work runs. */
  get cause(): Change | undefined {
    return this.#delivering ?? this.#earlier;
  }

  /** What was written: a value, or the boolean that the destination has made it of, as another one of its address would on its own. */
  inputOf(change: Change): Value {
    return this.#meant.get(change) ?? change.value;
  }

  /** Runs work on behalf of a change of an earlier turn. Errors: those of `work`. */
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
   * Adds the parameters of a connection, then sets their default values; a parameter that is there already stays as it is. Made one
   * after the other, parameters stay together in memory: a rule that writes to thousands of them takes up to a fifth less.
   */
  declare(owner: Origin, declarations: Iterable<ParameterDeclaration>): void {
    const added: ParameterNode[] = [];
    const defaults: Value[] = [];
    for (const declaration of declarations) {
      const address = formatAddress(owner.name, declaration.id);
      let known = this.find(address);
      if (known?.remote !== undefined && known.owner.hub !== undefined) {
        this.remove([known]); // what this hub declares is its own
        known = undefined;
      }
      if (known !== undefined) {
        if (known.type !== 'T') known.accept = declaration.accept;
        continue;
      }
      const node = createNode(owner, address, declaration);
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

  /** What others write to a parameter, converted, for the connection of the parameter. Hot, replays nothing. */
  inbox(address: string): Observable<Value> {
    const node = this.get(address);
    node.inbox ??= new Emitter<Value>();
    return node.inbox;
  }

  /** Writes to a parameter that change nothing, since it has the value already. Hot, replays nothing; of a trigger there is none. */
  repeats(node: ParameterNode): Observable<Value> {
    node.repeats ??= new Emitter<Value>();
    return node.repeats;
  }

  /** Writes by address and returns the converted value. Errors: as `writeTo`, and `unknown-parameter`. */
  write(address: string, input: unknown, origin: Origin): Value {
    return this.writeTo(this.get(address), input, origin);
  }

  /**
   * The one way in. Returns the converted value. What another hub owns is only sent there: it has changed once that hub tells so.
   * Errors: `read-only`, `not-convertible`, `out-of-range`; `conflict` when there is no room for a long text; `unavailable` when this hub finds
   * that it may no longer write it.
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

  /** Errors: `conflict`. */
  #takeRoom(node: ParameterNode, text: string, origin: Origin, cause: Change | undefined): void {
    this.texts.take(node, text, { origin, cause }, this.#isInTurn ? this.#turns : 0);
  }

  /** Looks whether this hub may still act. The look may take the parameter away from this hub: then the write is refused. */
  #look(node: ParameterNode, origin: Origin): void {
    const wasOwn = node.remote === undefined;
    this.mayAct!();
    if (wasOwn && node.remote !== undefined && origin !== node.owner)
      throw new HubError('unavailable', `${node.address}: this hub does not own it any more`);
  }

  /** Writes what this hub does not own. It stands apart since V8 inlines `writeTo` only while that is short. Errors: as `writeTo`. */
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
   * Has the hub that owns parameters write them, as one turn there. It never rejects: it resolves to the value that each has got,
   * or to its error.
   */
  writeRemote(remote: Remote, writes: readonly RemoteWrite[], origin: Origin): Promise<readonly (Value | Error)[]> {
    const hop = this.#nextHop();
    const cause = this.#delivering ?? this.#earlier;
    if (hop > maxHops)
      for (const { parameter } of writes) {
        const change = new PendingChange(parameter as ParameterNode, 1, origin, cause, hop, this.now());
        this.#dropped.next(new DroppedWrite('hops', change));
      }
    return remote.write(writes, { origin, cause, hop }); // past the limit it refuses, and names the rules as well
  }

  /** Writes what another hub asks for, which has counted hops. Errors: as `writeTo`, and `conflict` past the limit of hops. */
  writeFor(node: ParameterNode, input: unknown, origin: Origin, cause: Change | undefined, hop: number): Value {
    if (hop <= maxHops) return this.writeTo(node, input, origin, cause, hop);
    this.#dropped.next(new DroppedWrite('hops', new PendingChange(node, 1, origin, cause, hop, this.now())));
    throw tooManyHops(node.address);
  }

  /** Takes over a change that the owner of a mirrored parameter tells: within a turn, whose limit of writes does not count it. */
  mirror(node: ParameterNode, reported: MirroredChange): Change {
    const { value, origin, cause, hop, time } = reported;
    const change = new PendingChange(node, value, origin, cause, hop, time);
    this.#queue[this.#queued++] = change;
    return change;
  }

  /**
   * Gives a parameter back the value that it had in an earlier run of the hub: with a new revision and the time of then. Nobody is
   * told, so it is for the time before anything runs. Errors: as `writeTo`, but for `read-only`.
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
   * Gives a parameter back what another hub has kept, within a turn: everybody is told, and its limit of writes does not count it. What
   * no longer converts is left out.
   */
  giveBack(node: ParameterNode, { value, time, readCause }: Restored, origin: Origin): void {
    try {
      const converted = node.accept === undefined ? convert(node.type, value) : node.accept(value);
      this.mirror(node, { value: converted, origin, cause: readCause(), hop: 0, time });
    } catch {} // the default stays
  }

  /** Makes one turn of all writes in `work`; within a turn it only runs the work. Errors: those of `work`. */
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

  /** Has the task run once in this turn, after its writes have settled; outside of a turn, in a turn of its own. */
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

  /** A turn that begins with one write; `writeTo` has looked whether the hub may act. */
  #turnOf(change: PendingChange): void {
    this.#beginTurn();
    this.#finishTurn(change);
  }

  /** If something throws that must not, the rest is still delivered and settled. Then the turn ends, and the first error is thrown. */
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

  /** Stores, then tells the observers of the parameter, those of all changes, and the parameter's own connection. */
  #deliver(change: PendingChange): void {
    const node = change.parameter;
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
  }

  /** Counts a change if it is about long texts, or ends what was. */
  #countTexts(node: ParameterNode, change: Change): void {
    if (isLongText(change.value) || isLongText(node.value) || isLongText(node.lastChange?.previous))
      this.texts.count(node, change);
  }

  /** Tells of a write that changes nothing. */
  #repeat(node: StateNode, change: PendingChange): void {
    if (node.remote !== undefined) adopt(node, change);
    else {
      node.repeats?.emit(change.value);
      this.#repeated.emit(change);
    }
  }
}

/**
 * The owner of a mirrored parameter tells the value that is here already, with another time or writer. The parameter takes these over.
 * Nobody is told, and the revision of the value stays.
 */
function adopt(node: StateNode, change: PendingChange): void {
  const { origin, time, revision, previous } = node.lastChange!;
  if (time === change.time && isSameWriter(origin, change.origin)) return;
  change.previous = previous;
  change.revision = revision;
  node.lastChange = change;
}

function readOnly({ address }: ParameterNode): HubError {
  return new HubError('read-only', `${address}: expected a writable parameter, this one is read-only`);
}

// A change as the graph makes it. A change keeps the chain of changes that led to it. Within a turn the chain is whole; a chain
// that goes on through time loses its oldest changes, so that a loop through timers does not keep all of its past.

/** At least so many of the changes that led to a change are kept, and always less than twice as many. */
export const keptCauses = 64;

/** A change from the moment it is written. It gets its previous value and its revision when it is delivered. */
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
    this.cause = depth % keptCauses !== 0 || depth <= keptCauses ? cause : shorten(cause!);
    this.depth = depth;
    this.hop = hop;
    this.time = time;
  }
}

/** Copies the newest part of a chain. Other chains that lead through the original keep all of their changes. */
function shorten(newest: Change): Change {
  const links: Change[] = [];
  for (let link: Change | undefined = newest; link !== undefined && links.length < keptCauses; link = link.cause)
    links.push(link);
  return links.reduceRight<Change | undefined>((cause, link) => ({ ...link, cause }), undefined)!;
}
