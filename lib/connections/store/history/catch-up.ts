// Goes through the parameters that changed while nobody recorded, in the order of their revisions.

import type { Change, Parameter } from '../../../model/parameter.ts';
import type { Parameters } from '../../hub-port.ts';

/** How many parameters are looked at in one step. */
export const catchUpStep = 5000;

export class CatchUp {
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
