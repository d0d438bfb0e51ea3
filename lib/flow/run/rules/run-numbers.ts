// Where the runs of rules are kept as numbers. Rules that run one after another, such as thousands on one source, have their runs
// side by side: a processor has to wait for memory when each of them lies somewhere else.

/** How many runs of each rule are kept. */
export const keptRuns = 50;
/** How many numbers a run has. */
const runWidth = 5;

/** How many rules share a block. It has memory for all of their runs, which the system gives once they run. */
const rulesPerBlock = 64;
/** How far two runs of a rule are from one another. */
export const runDistance = rulesPerBlock * runWidth;

/** The numbers of a rule: those of its first run begin at `first`, those of each further run `runDistance` behind. */
export interface RunPlace {
  readonly numbers: Float64Array;
  readonly first: number;
}

/** Takes what a rule says that has ended, which nobody reads. */
export const nowhere: RunPlace = { numbers: createBlock(), first: 0 };

/** The places of all rules of a hub. */
export class RunPlaces {
  #numbers = nowhere.numbers;
  #taken = rulesPerBlock;
  /** Of rules that have ended: never more than there were rules at the same time. */
  readonly #free: RunPlace[] = [];

  take(): RunPlace {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#taken === rulesPerBlock) {
      this.#numbers = createBlock();
      this.#taken = 0;
    }
    return { numbers: this.#numbers, first: runWidth * this.#taken++ };
  }

  giveBack(place: RunPlace): void {
    this.#free.push(place);
  }
}

function createBlock(): Float64Array {
  return new Float64Array(keptRuns * runDistance);
}
