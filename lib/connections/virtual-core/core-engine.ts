// Evaluates a compiled core. A changed value marks all outputs that read it. Marked outputs are evaluated once, in the order of their
// dependencies. Therefore, the cost of a change depends on the number of affected outputs and not on the total number of outputs.
import { Heap } from '../../model/heap.ts';
import type { Change, Parameter } from '../../model/parameter.ts';
import type { Value } from '../../model/value.ts';
import type { Logic } from './blocks/logic.ts';

interface EngineListener {
  /** Called when the cell of an output has received a new value or has fired. `because` is the change that caused it. */
  onSet(cell: Cell, value: Value, because: Change | undefined): void;
  /** Called when an output could not be evaluated. The output then keeps its last value. */
  onFault(name: string, error: unknown): void;
}

/** A wake that a unit has requested. It is valid until the unit requests another time. */
interface Wake {
  readonly at: number;
  readonly unit: Unit;
}

export class Engine {
  /** The number of evaluations of outputs so far. */
  evaluations = 0;
  readonly #listener: EngineListener;
  readonly #units: readonly Unit[];
  readonly #marked = new RankSet();
  /** The argument values for the current step. All units share this list, because separate lists would cost additional memory accesses. */
  readonly #values: Value[] = [];
  readonly #wakes = new Heap<Wake>((one, other) => one.at < other.at);
  /** The triggers among the inputs that have fired since the last evaluation. */
  #fired: Cell[] = [];
  /** The triggers whose value is true during the current evaluation. */
  #raised: Cell[] = [];

  /** Adds the units in rank order and marks all of them, so that the first evaluation is complete. */
  constructor(units: readonly Unit[], listener: EngineListener) {
    this.#units = units;
    this.#listener = listener;
    for (const unit of units) this.#marked.add(unit.rank);
  }

  /** Sets the value of an input for the next evaluation. */
  put(input: Cell, value: Value, because?: Change): void {
    if (input.isTrigger) {
      input.because = because;
      if (input.fires++ === 0) this.#fired.push(input);
    } else if (input.value !== value) {
      input.value = value;
      this.#markReaders(input, because);
    }
  }

  /**
   * Evaluates the marked outputs. A trigger is true during one evaluation; a second evaluation follows immediately, in which it is false
   * again. A trigger that has fired several times is evaluated in this way once for each firing.
   */
  evaluate(now: number): void {
    let isFalling = false;
    while (!this.#marked.isEmpty || this.#fired.length > 0) {
      if (!isFalling) this.#raise();
      for (let rank = this.#marked.takeFirst(); rank >= 0; rank = this.#marked.takeFirst())
        this.#step(this.#units[rank]!, now);
      isFalling = this.#lower();
    }
  }

  /** The time at which the next unit must be woken, in milliseconds; Infinity if no unit is waiting. */
  get nextWakeAt(): number {
    let first = this.#wakes.first;
    for (; first !== undefined && first.unit.wakeAt !== first.at; first = this.#wakes.first) this.#wakes.take();
    return first?.at ?? Infinity;
  }

  /** Marks the units whose wake time has come. */
  wake(now: number): void {
    while (this.nextWakeAt <= now) {
      const { unit } = this.#wakes.take()!;
      unit.wakeAt = Infinity;
      unit.because = unit.wakeBecause;
      this.#marked.add(unit.rank);
    }
  }

  #step(unit: Unit, now: number): void {
    const { reads, logic, gives } = unit;
    const values = this.#values;
    for (let index = 0; index < reads.length; index++) {
      const value = reads[index]!.value;
      if (value === undefined) return;
      values[index] = value;
    }
    this.evaluations++;
    try {
      logic.step(values, now);
    } catch (error) {
      this.#listener.onFault(unit.name, error);
      return;
    }
    for (let index = 0; index < gives.length; index++) this.#give(gives[index]!, logic.outputs[index]!, unit.because);
    this.#wakeLater(unit, logic.wakeAt);
    if (unit.onStep !== undefined) unit.onStep();
  }

  #give(cell: Cell, value: Value, because: Change | undefined): void {
    if (value === cell.value) return;
    cell.value = value;
    if (cell.isTrigger) {
      cell.because = because;
      this.#raised.push(cell);
    }
    this.#markReaders(cell, because);
    this.#listener.onSet(cell, value, because);
  }

  /**
   * Schedules a wake for the unit, unless an earlier wake is already scheduled. A unit that is woken too early steps and requests another
   * wake.
   */
  #wakeLater(unit: Unit, wakeAt: number): void {
    if (wakeAt >= unit.wakeAt) return;
    unit.wakeAt = wakeAt;
    unit.wakeBecause = unit.because;
    this.#wakes.add({ at: wakeAt, unit });
  }

  #raise(): void {
    const fired = this.#fired;
    this.#fired = [];
    for (const cell of fired) {
      if (--cell.fires > 0) this.#fired.push(cell);
      cell.value = true;
      this.#raised.push(cell);
      this.#markReaders(cell, cell.because);
    }
  }

  #lower(): boolean {
    if (this.#raised.length === 0) return false;
    const raised = this.#raised;
    this.#raised = [];
    for (const cell of raised) {
      cell.value = false;
      this.#markReaders(cell, cell.because);
    }
    return true;
  }

  #markReaders({ readers }: Cell, because: Change | undefined): void {
    for (const unit of readers) {
      unit.because = because;
      this.#marked.add(unit.rank);
    }
  }
}

// The parts of a compiled core. Cells contain values, and units are outputs, which read some cells and set other cells.

/** The shared list for cells without readers, which are the majority in a large core. It must never be changed. */
const nobody: Unit[] = [];

/**
 * A value that outputs can read: an input, a parameter of an output, or a literal. The value of a trigger is true during one evaluation.
 */
export class Cell {
  readonly name: string;
  readonly isTrigger: boolean;
  /** The units that read the cell. Only `addReader` changes this list. */
  readers: Unit[] = nobody;
  /** The current value; undefined until the value is known. */
  value: Value | undefined;
  /** The number of times that the trigger has fired since its last evaluation. */
  fires = 0;
  /** The parameter for the cell; undefined if the cell is an input or a literal. */
  own: Parameter | undefined = undefined;
  /** The input change that caused the trigger to fire. */
  because: Change | undefined = undefined;

  constructor(name: string, isTrigger: boolean, value: Value | undefined = isTrigger ? false : undefined) {
    this.name = name;
    this.isTrigger = isTrigger;
    this.value = value;
  }

  addReader(unit: Unit): void {
    if (this.readers === nobody) this.readers = [unit];
    else this.readers.push(unit);
  }
}

/** An output with its logic and its rank in the evaluation order. */
export class Unit {
  readonly name: string;
  readonly rank: number;
  readonly reads: readonly Cell[];
  readonly gives: readonly Cell[];
  readonly logic: Logic;
  wakeAt = Infinity;
  /** Called after each step if the state of the logic is stored. */
  onStep: (() => void) | undefined = undefined;
  /** The input change that last caused the unit to be marked. */
  because: Change | undefined = undefined;
  /** The input change that caused the unit to request a wake. */
  wakeBecause: Change | undefined = undefined;

  constructor(name: string, rank: number, reads: readonly Cell[], gives: readonly Cell[], logic: Logic) {
    this.name = name;
    this.rank = rank;
    this.reads = reads;
    this.gives = gives;
    this.logic = logic;
    for (const cell of reads) cell.addReader(this);
  }
}

// The ranks of the outputs to be evaluated. The set returns the lowest rank first. It consists of three levels of bits: each bit states
// whether any of 32 bits in the next level is set. Therefore, the cost of adding and removing a rank does not depend on the number of
// ranks.

/** The number of ranks that fit into a set: 0 to 32,767. */
export const maxRanks = 32 ** 3;

export class RankSet {
  #top = 0;
  readonly #middle = new Int32Array(32);
  readonly #bottom = new Int32Array(1024);

  get isEmpty(): boolean {
    return this.#top === 0;
  }

  /** Adds a rank. Does nothing if the set already contains the rank. */
  add(rank: number): void {
    this.#bottom[rank >> 5]! |= 1 << (rank & 31);
    this.#middle[rank >> 10]! |= 1 << ((rank >> 5) & 31);
    this.#top |= 1 << (rank >> 10);
  }

  /** Removes and returns the lowest rank, or returns −1 if the set is empty. */
  takeFirst(): number {
    if (this.#top === 0) return -1;
    const high = lowestBit(this.#top);
    const middle = high * 32 + lowestBit(this.#middle[high]!);
    const rank = middle * 32 + lowestBit(this.#bottom[middle]!);
    this.#bottom[middle]! &= ~(1 << (rank & 31));
    if (this.#bottom[middle] === 0) this.#middle[high]! &= ~(1 << (middle & 31));
    if (this.#middle[high] === 0) this.#top &= ~(1 << high);
    return rank;
  }
}

function lowestBit(word: number): number {
  return 31 - Math.clz32(word & -word);
}
