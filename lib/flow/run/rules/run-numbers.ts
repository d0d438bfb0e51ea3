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

/** Of rules that have ended: never more than there were rules at the same time. */
const free: RunPlace[] = [];
let block = nowhere.numbers;
let taken = rulesPerBlock;

/** A place for the runs of a rule, of any hub of the process; thousands of tests share what the first of them has made. */
export function takePlace(): RunPlace {
  const known = free.pop();
  if (known !== undefined) return known;
  if (taken === rulesPerBlock) {
    block = createBlock();
    taken = 0;
  }
  return { numbers: block, first: runWidth * taken++ };
}

export function giveBackPlace(place: RunPlace): void {
  free.push(place);
}

function createBlock(): Float64Array {
  return new Float64Array(keptRuns * runDistance);
}
