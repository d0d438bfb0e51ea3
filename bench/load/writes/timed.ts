// Turns of a graph within one process, one after the other, for as long as a window measures.

import { setImmediate } from 'node:timers/promises';
import { percentile, sort } from '../../../spec/support/statistics.ts';
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

export interface WriteTask {
  readonly writes: number;
}

/** Nanoseconds per write: the median of the chunks, and the 99th percentile. */
export interface WriteResult {
  readonly medianNs: number;
  readonly p99Ns: number;
}

const chunk = 1000;

/** Writes 1, 2, 3 … and times it, after a tenth of them as warm-up; `check` says what is wrong after `writes` of them. */
export async function timeWrites(
  { writes }: WriteTask,
  write: (value: number) => void,
  check: (writes: number) => string | undefined,
): Promise<WriteResult> {
  const chunks = Math.max(10, Math.floor(writes / chunk));
  const warmUpChunks = Math.floor(chunks / 10);
  const nsPerWrite: number[] = [];
  let value = 0;
  for (let index = 0; index < chunks; index++) {
    const start = performance.now();
    for (let count = 0; count < chunk; count++) write(++value);
    const elapsedMs = performance.now() - start;
    if (index >= warmUpChunks) nsPerWrite.push((elapsedMs * 1e6) / chunk);
    await setImmediate();
  }
  const mistake = check(value);
  if (mistake !== undefined) throw new Error(mistake);
  const sorted = sort(nsPerWrite);
  return { medianNs: percentile(sorted, 0.5), p99Ns: percentile(sorted, 0.99) };
}
