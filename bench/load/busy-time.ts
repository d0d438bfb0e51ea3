// How long another process has been working: what a server needs for an answer does not depend on how fast it is asked.

import { readFileSync } from 'node:fs';

/** Milliseconds that the main thread of a process has run; NaN where the system (not Linux) does not tell. */
export function busyMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6;
  } catch {
    return Number.NaN;
  }
}
