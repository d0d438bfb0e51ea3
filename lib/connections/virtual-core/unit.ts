// What a compiled core is made of: cells hold values, units are the outputs that read some cells and give others.

import type { Change, Parameter } from '../../model/parameter.ts';
import type { Value } from '../../model/value.ts';
import type { Logic } from './blocks/logic.ts';

/** The readers of all cells that have none: most outputs of a large core. Never added to. */
const nobody: Unit[] = [];

/** A value that outputs read: an input, a parameter of an output, or a literal. A trigger is true for one evaluation. */
export class Cell {
  readonly name: string;
  readonly isTrigger: boolean;
  /** Only `addReader` changes it. */
  readers: Unit[] = nobody;
  /** Undefined: not known yet. */
  value: Value | undefined;
  /** How often a trigger has fired since it was evaluated last. */
  fires = 0;
  /** The parameter that is set to the value; undefined: an input, or a literal. */
  own: Parameter | undefined = undefined;
  /** The change of an input that made a trigger true. */
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

/** An output with its logic and its place in the order of evaluation. */
export class Unit {
  readonly name: string;
  readonly rank: number;
  readonly reads: readonly Cell[];
  readonly gives: readonly Cell[];
  readonly logic: Logic;
  wakeAt = Infinity;
  /** Hears of each step, where the memory of the logic is kept. */
  onStep: (() => void) | undefined = undefined;
  /** The change of an input that marked it last. */
  because: Change | undefined = undefined;
  /** The change of an input after which it asked to be woken. */
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
