// Times writes within one process, in chunks that each have a round of the event loop to themselves, as writes have that
// come in from outside.

import { setImmediate } from 'node:timers/promises';
import { percentile, sort } from '../../../spec/support/statistics.ts';

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
