// Evaluates a compiled core: what has changed marks what reads it, and what is marked is evaluated in dependency order,
// each output once. The work is in the number of outputs affected, never in the number there are.

import type { Change } from '../../model/parameter.ts';
import type { Value } from '../../model/value.ts';
import { Heap } from './heap.ts';
import type { Logic } from './logic.ts';
import { RankSet } from './rank-set.ts';

/** A value that outputs read: an input, a parameter of an output, or a literal. A trigger is true for one evaluation. */
export class Cell {
  readonly name: string;
  readonly isTrigger: boolean;
  readonly readers: Unit[] = [];
  /** Undefined: not known yet. */
  value: Value | undefined;
  /** How often a trigger has fired without being evaluated yet. */
  fires = 0;
  /** The change of an input that led to the value. */
  because: Change | undefined = undefined;

  constructor(name: string, isTrigger: boolean, value: Value | undefined = isTrigger ? false : undefined) {
    this.name = name;
    this.isTrigger = isTrigger;
    this.value = value;
  }
}

/** An output with its logic and its place in the order of evaluation. */
export class Unit {
  readonly name: string;
  readonly rank: number;
  readonly reads: readonly Cell[];
  readonly gives: readonly Cell[];
  readonly logic: Logic;
  /** The values of `reads`, for one step. */
  readonly values: Value[] = [];
  wakeAt = Infinity;
  /** The change of an input that marked it last. */
  because: Change | undefined = undefined;
  /** The change of an input that had it want to be woken. */
  wakeBecause: Change | undefined = undefined;

  constructor(name: string, rank: number, reads: readonly Cell[], gives: readonly Cell[], logic: Logic) {
    this.name = name;
    this.rank = rank;
    this.reads = reads;
    this.gives = gives;
    this.logic = logic;
    for (const cell of reads) cell.readers.push(this);
  }
}

export interface EngineListener {
  /** A parameter has a new value, or has fired. */
  onSet(name: string, value: Value, because: Change | undefined): void;
  /** An output could not be evaluated; it keeps its last value. */
  onFault(name: string, error: unknown): void;
}

export class Engine {
  /** How many times an output has been evaluated. */
  evaluations = 0;
  readonly #listener: EngineListener;
  readonly #units: readonly Unit[];
  readonly #marked = new RankSet();
  readonly #wakes = new Heap<Unit>();
  /** Triggers of inputs that have fired since the last evaluation. */
  #fired: Cell[] = [];
  /** Triggers that are true in this evaluation. */
  #raised: Cell[] = [];

  /** Takes the units by rank and marks them all: the first evaluation is of everything. */
  constructor(units: readonly Unit[], listener: EngineListener) {
    this.#units = units;
    this.#listener = listener;
    for (const unit of units) this.#marked.add(unit.rank);
  }

  /** Takes the value of an input; evaluated later, with all others that came. */
  put(input: Cell, value: Value, because?: Change): void {
    if (input.isTrigger) {
      input.because = because;
      if (input.fires++ === 0) this.#fired.push(input);
    } else if (input.value !== value) {
      input.value = value;
      input.because = because;
      this.#markReaders(input);
    }
  }

  /**
   * Evaluates what is marked. A trigger is true in one evaluation, and a second one right after it sees it false again;
   * one that has fired several times is seen as often.
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

  /** When the next unit wants to be woken; Infinity: none does. */
  get nextWakeAt(): number {
    while (this.#wakes.size > 0 && this.#wakes.first!.wakeAt !== this.#wakes.firstKey) this.#wakes.pop();
    return this.#wakes.firstKey;
  }

  /** Marks the units whose time has come. */
  wake(now: number): void {
    while (this.nextWakeAt <= now) {
      const unit = this.#wakes.pop()!;
      unit.wakeAt = Infinity;
      unit.because = unit.wakeBecause;
      this.#marked.add(unit.rank);
    }
  }

  #step(unit: Unit, now: number): void {
    const { reads, values, logic, gives } = unit;
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
  }

  #give(cell: Cell, value: Value, because: Change | undefined): void {
    if (value === cell.value) return;
    cell.value = value;
    cell.because = because;
    if (cell.isTrigger) this.#raised.push(cell);
    this.#markReaders(cell);
    this.#listener.onSet(cell.name, value, because);
  }

  /** A unit that is to be woken earlier than it wants to be steps and asks again, so that it has one wake at a time. */
  #wakeLater(unit: Unit, wakeAt: number): void {
    if (wakeAt >= unit.wakeAt) return;
    unit.wakeAt = wakeAt;
    unit.wakeBecause = unit.because;
    this.#wakes.push(wakeAt, unit);
  }

  #raise(): void {
    const fired = this.#fired;
    this.#fired = [];
    for (const cell of fired) {
      if (--cell.fires > 0) this.#fired.push(cell);
      cell.value = true;
      this.#raised.push(cell);
      this.#markReaders(cell);
    }
  }

  #lower(): boolean {
    if (this.#raised.length === 0) return false;
    const raised = this.#raised;
    this.#raised = [];
    for (const cell of raised) {
      cell.value = false;
      this.#markReaders(cell);
    }
    return true;
  }

  #markReaders({ readers, because }: Cell): void {
    for (const unit of readers) {
      unit.because = because;
      this.#marked.add(unit.rank);
    }
  }
}
