// Counts the firings of another hub's triggers that this hub has shown. A walk reports the total numbers; each difference is the number of
// lost firings.

import type { Parameter } from '../../../model/parameter.ts';

/** The numbers of firings of triggers, as reported in a walk: `[number, count, number, count, …]`. */
type Fires = readonly number[];

export class FireCounts {
  readonly #parameterOf: (number: number) => Parameter | undefined;
  /** The number of firings of each trigger, keyed by the trigger's number in its owner's current epoch. */
  readonly #counts = new Map<number, number>();
  #epoch: string | undefined;

  constructor(parameterOf: (number: number) => Parameter | undefined) {
    this.#parameterOf = parameterOf;
  }

  /** Counts a firing that this hub shows. */
  readonly add = (number: number): void => {
    this.#counts.set(number, (this.#counts.get(number) ?? 0) + 1);
  };

  /** Returns the triggers whose firings would have been shown in this epoch. Must be called before the results of the walk are applied. */
  shownOf(fires: Fires, epoch: string): ReadonlySet<number> {
    const isKnown = epoch === this.#epoch;
    if (!isKnown) this.#counts.clear();
    this.#epoch = epoch;
    return new Set(fires.filter((number, index) => isKnown && index % 2 === 0 && this.#parameterOf(number)));
  }

  /** Adopts the counts from a walk. Returns the number of lost firings for each trigger that was shown and still is. */
  takeOver(fires: Fires, shown: ReadonlySet<number>): ReadonlyMap<Parameter, number> {
    const lost = new Map<Parameter, number>();
    for (let index = 0; index + 1 < fires.length; index += 2) {
      const [number, count] = [fires[index]!, fires[index + 1]!];
      const parameter = this.#parameterOf(number);
      const missing = count - (this.#counts.get(number) ?? 0);
      if (parameter === undefined) continue;
      if (shown.has(number) && missing > 0) lost.set(parameter, missing);
      this.#counts.set(number, count);
    }
    return lost;
  }
}
