// Times turns or single writes of a graph within one process, one after the other.

import { setImmediate } from 'node:timers/promises';
import { percentile, sort } from '../../../spec/support/statistics.ts';
import { type Measured, MeasuringWindow } from '../measuring-window.ts';

export interface TurnsTask {
  /** Number of parameters that change with each turn. */
  readonly changing: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
}

/** Number of changes between two checks of the clock. */
const changesPerLook = 1000;

/** Makes turns 1, 2, 3 … until the window closes; returns the measurement. `check` describes any error after the last turn. */
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

/** Nanoseconds per write: the median over the chunks, and the 99th percentile. */
export interface WriteResult {
  readonly medianNs: number;
  readonly p99Ns: number;
}

const chunk = 1000;

/** Writes 1, 2, 3 … and times the writes after a warm-up of a tenth of them; `check` describes any error at the end. */
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
