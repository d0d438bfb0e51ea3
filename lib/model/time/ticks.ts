// A deadline that is counted in ticks of this thread. When the thread is so busy that ticks come late, the deadline comes later too; and
// what has come meanwhile is read before the next tick.

import { type Scheduler, within } from './deadline.ts';

const tickMs = 50;

/**
 * What a promise comes to, or undefined once `isLate` says so, which is asked at each tick with the time that has passed, in ms. Ticks are
 * those of a scheduler. Errors: its own.
 */
export async function withinTicks<T>(
  promise: Promise<T>,
  isLate: (ms: number) => boolean,
  scheduler?: Scheduler,
): Promise<T | undefined> {
  const settled = promise.then((value) => ({ value }));
  for (let ms = tickMs; ; ms += tickMs) {
    const inTime = await within(settled, tickMs, scheduler);
    if (inTime !== undefined) return inTime.value;
    if (isLate(ms)) return undefined;
  }
}
