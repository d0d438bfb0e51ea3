// Evaluates a compiled core. A value that changes marks the outputs that read it, and marked outputs are evaluated in the order
// of their dependencies, each of them once. So a change costs as much as it affects, however many outputs there are.

import { Heap } from '../../model/heap.ts';
import type { Change } from '../../model/parameter.ts';
import type { Value } from '../../model/value.ts';
import { RankSet } from './rank-set.ts';
import type { Cell, Unit } from './unit.ts';

export interface EngineListener {
  /** What an output gives has a new value, or has fired. */
  onSet(cell: Cell, value: Value, because: Change | undefined): void;
  /** An output could not be evaluated; it keeps its last value. */
  onFault(name: string, error: unknown): void;
}

/** When a unit asked to be woken; it counts as long as the unit has not asked for another time. */
interface Wake {
  readonly at: number;
  readonly unit: Unit;
}

export class Engine {
  /** How many times an output has been evaluated. */
  evaluations = 0;
  readonly #listener: EngineListener;
  readonly #units: readonly Unit[];
  readonly #marked = new RankSet();
  /** What the unit that steps reads; one list for all of them, since in a large core each list is one more place in memory. */
  readonly #values: Value[] = [];
  readonly #wakes = new Heap<Wake>((one, other) => one.at < other.at);
  /** Triggers of inputs that have fired since the last evaluation. */
  #fired: Cell[] = [];
  /** Triggers that are true in this evaluation. */
  #raised: Cell[] = [];

  /** Takes the units by rank and marks all of them: the first evaluation is of everything. */
  constructor(units: readonly Unit[], listener: EngineListener) {
    this.#units = units;
    this.#listener = listener;
    for (const unit of units) this.#marked.add(unit.rank);
  }

  /** Takes the value of an input, for the next evaluation. */
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
   * Evaluates what is marked. A trigger is true in one evaluation and false again in a second one, right after it. One that has
   * fired several times is evaluated so each time.
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

  /** When the next unit wants to be woken; Infinity when none does. */
  get nextWakeAt(): number {
    let first = this.#wakes.first;
    for (; first !== undefined && first.unit.wakeAt !== first.at; first = this.#wakes.first) this.#wakes.take();
    return first?.at ?? Infinity;
  }

  /** Marks the units whose time has come. */
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

  /** A unit has one wake at a time, the earliest that it asked for: when it is woken too early it steps, and asks again. */
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
