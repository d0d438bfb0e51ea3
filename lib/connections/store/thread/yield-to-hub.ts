// A thread that nobody waits for gives way to the hub's own, where the two need the same core.

import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Of -20 (first) to 19 (last). */
const niceness = 10;

/** Lowers the priority of the thread that calls it. On Linux a thread has one of its own; elsewhere nothing is done. */
export function yieldToHub(): void {
  try {
    const [thread] = readlinkSync('/proc/thread-self').split('/').slice(-1);
    setPriority(Number(thread), niceness);
  } catch {} // there is no /proc, or it is not allowed
}
