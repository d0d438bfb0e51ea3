// How many parameters differ from a snapshot: counted once, and kept by each change at the cost of a look into a map.

import type { Change, Parameter } from '../../../model/parameter.ts';
import type { Value } from '../../../model/value.ts';

export class Difference {
  readonly #expected: ReadonlyMap<Parameter, Value>;
  #count = 0;

  /** `expected` has what each parameter becomes when the snapshot is recalled. */
  constructor(expected: ReadonlyMap<Parameter, Value>) {
    this.#expected = expected;
    for (const [parameter, value] of expected) if (parameter.value !== value) this.#count++;
  }

  get count(): number {
    return this.#count;
  }

  /** Takes over a change; to be told every change since it was created. */
  take({ parameter, value, previous }: Change): void {
    const expected = this.#expected.get(parameter);
    if (expected === undefined) return;
    if (value !== expected) this.#count++;
    if (previous !== expected) this.#count--;
  }
}
