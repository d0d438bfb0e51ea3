// Turns of a graph within one process, one after the other, for as long as a window measures.

import { type Measured, MeasuringWindow } from '../measuring-window.ts';

export interface TurnsTask {
  /** How many parameters change with each turn. */
  readonly changing: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

/** So many changes are made between two looks at the clock. */
const changesPerLook = 1000;

/** Makes turns 1, 2, 3 …; resolves to how many were measured. `check` says what is wrong after the last of them. */
export function timeTurns(
  { changing, warmUpMs, measureMs }: TurnsTask,
  turn: (number: number) => void,
  check: (turns: number) => string | undefined,
): Measured {
  const turnsPerLook = Math.ceil(changesPerLook / changing);
  const window = new MeasuringWindow({ serverPid: process.pid, warmUpMs, measureMs });
  let turns = 0;
  while (window.measured === undefined) {
    for (let count = 0; count < turnsPerLook; count++) turn(++turns);
    window.look(turns);
  }
  const mistake = check(turns);
  if (mistake !== undefined) throw new Error(mistake);
  return window.measured;
}
