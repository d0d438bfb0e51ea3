// What a compiled core is made of: cells hold values, units are the outputs that read some cells and give others.

import type { Change } from '../../model/parameter.ts';
import type { Value } from '../../model/value.ts';
import type { Logic } from './blocks/logic.ts';

/** A value that outputs read: an input, a parameter of an output, or a literal. A trigger is true for one evaluation. */
export class Cell {
  readonly name: string;
  readonly isTrigger: boolean;
  readonly readers: Unit[] = [];
  /** Undefined: not known yet. */
  value: Value | undefined;
  /** How often a trigger has fired since it was evaluated last. */
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
    for (const cell of reads) cell.readers.push(this);
  }
}
