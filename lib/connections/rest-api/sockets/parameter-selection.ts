// A selection is the set of parameters that pass a filter. A slow filter is applied to each parameter once, in slices, before its client is
// notified of changes. So the cost of a change does not depend on the cost of the filters.

import type { Parameter } from '../../../model/parameter.ts';
import type { Filter } from '../filters/filter.ts';
import type { FanOut } from './fan-out.ts';

/** The maximum cost of a filter that may be applied again for each change, in the unit of `Filter.work`. */
const maxQuickWork = 1;
/** The amount of filter work between two checks of the clock. The slowest filter takes a few milliseconds per parameter. */
const stepWork = 200;

export class Selection {
  /** The cost of the filter, in the unit of `Filter.work`. */
  readonly work: number;
  readonly #filter: Filter;
  readonly #fanOut: FanOut;
  /** The results of the filter: one bit per parameter, by channel number, up to the last parameter to which the filter was applied. */
  #answers = new Uint8Array(0);
  #lastAsked = 0;
  #walk: Iterator<Parameter> | undefined;
  #isReady: boolean;

  constructor(filter: Filter, fanOut: FanOut) {
    this.work = filter.work;
    this.#filter = filter;
    this.#fanOut = fanOut;
    this.#isReady = filter.work <= maxQuickWork;
  }

  /** Whether the selection may be used: it has been prepared, or its filter is so quick that it needs no preparation. */
  get isReady(): boolean {
    return this.#isReady;
  }

  has(parameter: Parameter): boolean {
    const id = this.#lastAsked === 0 ? undefined : this.#fanOut.idOf(parameter);
    if (id !== undefined && id <= this.#lastAsked) return (this.#answers[id >>> 3]! & (1 << (id & 7))) !== 0;
    return this.#filter(parameter.address); // either the filter is quick, or the parameter was added or removed after the preparation
  }

  /** Applies a slow filter to parameters until `endMs`; returns whether there are more parameters. */
  prepare(parameters: () => Iterable<Parameter>, endMs: number): boolean {
    if (this.#isReady) return false;
    this.#walk ??= parameters()[Symbol.iterator]();
    const step = Math.max(1, Math.floor(stepWork / this.work));
    do {
      for (let count = 0; count < step; count++) {
        const { done, value: parameter } = this.#walk.next();
        if (done) {
          this.#isReady = true;
          this.#walk = undefined;
          return false;
        }
        this.#note(this.#fanOut.channelOf(parameter).id, this.#filter(parameter.address));
      }
    } while (performance.now() < endMs);
    return true;
  }

  #note(id: number, isLetThrough: boolean): void {
    const place = id >>> 3;
    if (place >= this.#answers.length) {
      const answers = new Uint8Array(Math.max(place + 1, 2 * this.#answers.length));
      answers.set(this.#answers);
      this.#answers = answers;
    }
    if (isLetThrough) this.#answers[place]! |= 1 << (id & 7);
    this.#lastAsked = Math.max(this.#lastAsked, id);
  }
}
