// Compares two ongoing runs of one installation: the live run and a run in shadow. The state is compared at the end of each moment, so the
// order of two writes at the same moment makes no difference.

import type { Change, Origin, Parameter } from '../../model/parameter.ts';
import type { Deviation, DeviationCount, Side } from '../../model/reports/reload-report.ts';
import type { Value, ValueType } from '../../model/value.ts';

export type SideName = 'done' | 'would';

export interface DeviationOptions {
  /** The maximum number of deviations that are kept; the newest deviations are kept. */
  readonly most: number;
  /** The length of a moment, in milliseconds, within which one side may lag behind the other. */
  readonly momentMs: number;
  /** Returns a value that is small enough to keep. */
  readonly cut?: (value: Value) => Value;
}

/** The state of a parameter on both sides, now and at the end of its last moment. */
interface Compared {
  readonly address: string;
  readonly type: ValueType;
  done: Side;
  would: Side;
  doneBefore: Side;
  wouldBefore: Side;
  /** When the open moment began, in milliseconds; undefined if no moment is open. */
  openAt: number | undefined;
  count: number;
}

const nothing: Side = { value: undefined, origin: undefined };
const never: Side = { value: 0, origin: undefined };

export class Deviations {
  readonly #options: DeviationOptions;
  readonly #compared = new Map<string, Compared>();
  /** The parameters with an open moment, in the order in which their moments began. */
  readonly #open = new Set<Compared>();
  #kept: Deviation[] = [];
  #count = 0;

  constructor(options: DeviationOptions) {
    this.#options = options;
  }

  /** The number of all deviations, whether kept or not. */
  get count(): number {
    return this.#count;
  }

  /** Records the state of a parameter on one side before anything happens. */
  begin(side: SideName, { address, type, value, lastChange }: Parameter): void {
    if (type === 'T') return;
    const compared = this.#comparedOf(address, type);
    compared[side] = this.#sideOf(value, lastChange?.origin);
    compared[`${side}Before`] = compared[side];
  }

  /** Records a change on one side. If the parameter has no open moment, opens one. */
  note(side: SideName, { parameter: { address, type }, value, origin, time }: Change): void {
    this.endMoments(time);
    const compared = this.#comparedOf(address, type);
    if (compared.openAt === undefined) {
      compared.openAt = time;
      this.#open.add(compared);
    }
    compared[side] =
      type === 'T' ? { value: (compared[side].value as number) + 1, origin } : this.#sideOf(value, origin);
  }

  /** Ends the moments that are over at the given time. */
  endMoments(time: number): void {
    for (const compared of this.#open) {
      if (time - compared.openAt! <= this.#options.momentMs && time !== Number.POSITIVE_INFINITY) break;
      this.#end(compared);
    }
  }

  /** Returns the kept deviations, oldest first. */
  list(): readonly Deviation[] {
    return this.#kept.slice(-this.#options.most);
  }

  /** Returns the number of deviations of each parameter that differs or has differed. */
  counts(): DeviationCount[] {
    return [...this.#compared.values()].flatMap(({ address, count, done, would, type }) => {
      const differs = type !== 'T' && done.value !== would.value;
      return count === 0 && !differs ? [] : [{ address, count, differs }];
    });
  }

  #end(compared: Compared): void {
    const { address, type, done, would, doneBefore, wouldBefore, openAt } = compared;
    this.#open.delete(compared);
    compared.openAt = undefined;
    const isSameAsBefore = done.value === doneBefore.value && would.value === wouldBefore.value;
    const differs = done.value !== would.value || doneBefore.value !== wouldBefore.value;
    if (type === 'T') compared.done = compared.would = never;
    else {
      compared.doneBefore = done;
      compared.wouldBefore = would;
    }
    if (isSameAsBefore || !differs) return;
    compared.count++;
    this.#count++;
    this.#kept.push({ time: openAt!, address, type, done, would });
    if (this.#kept.length >= 2 * this.#options.most) this.#kept = this.#kept.slice(-this.#options.most);
  }

  #comparedOf(address: string, type: ValueType): Compared {
    const known = this.#compared.get(address);
    if (known !== undefined) return known;
    const side = type === 'T' ? never : nothing;
    const sides = { done: side, would: side, doneBefore: side, wouldBefore: side };
    const compared: Compared = { address, type, ...sides, openAt: undefined, count: 0 };
    this.#compared.set(address, compared);
    return compared;
  }

  #sideOf(value: Value | undefined, origin: Origin | undefined): Side {
    const { cut } = this.#options;
    return { value: value === undefined || cut === undefined ? value : cut(value), origin };
  }
}
