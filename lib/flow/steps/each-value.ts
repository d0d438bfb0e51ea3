// Steps that make a value of each value at once. Such a step is one object that stands between two others: an operator of rxjs is a
// dozen of objects and functions, and among thousands of rules each of them is one more place in memory to wait for.

import { Observable, Subscriber } from 'rxjs';
import type { Value } from '../../model/value.ts';
import type { Operator } from './step.ts';

/** A step that runs. It ends with who hears it. */
export abstract class EachValue extends Subscriber<Value> {
  /** What comes out for a value; undefined: nothing. */
  protected abstract compute(value: Value): Value | undefined;

  protected override _next(value: Value): void {
    let result: Value | undefined;
    try {
      result = this.compute(value);
    } catch (error) {
      this.destination.error(error);
      return;
    }
    if (result !== undefined) this.destination.next(result);
  }
}

/** The operator of a step, of which each rule that starts creates one. */
export function each(create: (hearer: Subscriber<Value>) => EachValue): Operator {
  return (source) => new Observable<Value>((hearer) => source.subscribe(create(hearer)));
}

/** Emits what is computed for each value, and nothing where that is unknown. */
export function computeEach(compute: (value: Value) => Value | undefined): Operator {
  return each((hearer) => new Computing(hearer, compute));
}

class Computing extends EachValue {
  readonly #compute: (value: Value) => Value | undefined;

  constructor(hearer: Subscriber<Value>, compute: (value: Value) => Value | undefined) {
    super(hearer);
    this.#compute = compute;
  }

  protected compute(value: Value): Value | undefined {
    return this.#compute(value);
  }
}
