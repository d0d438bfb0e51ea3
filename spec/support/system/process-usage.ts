// How long a process, this one or another, has been working: what a server needs for an answer does not depend on how fast it is asked.

import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds that the main thread of a process has run; NaN where the system (not Linux) does not tell. */
export function busyMs(pid: number): number {
  return readMs(`/proc/${pid}/schedstat`);
}

/** Milliseconds that all threads of a process have run, those that collect garbage as well; NaN where it is not told. */
export function busyMsOfAll(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.reduce((sum, thread) => sum + readMs(`/proc/${pid}/task/${thread}/schedstat`), 0);
  } catch {
    return Number.NaN;
  }
}

/**
 * Milliseconds that the main threads of processes could have run and had to wait for a core, as others used it: a latency that
 * was measured meanwhile is that of the machine. NaN where it is not told.
 */
export function waitedMs(...pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + readMs(`/proc/${pid}/schedstat`, 1), 0);
}

/** A column of `schedstat`: 0 the time that ran, 1 the time that waited. */
function readMs(file: string, column = 0): number {
  try {
    return Number(readFileSync(file, 'utf8').split(' ')[column]) / 1e6;
  } catch {
    return Number.NaN;
  }
}

/** Errors: where the system does not tell (it is Linux that does), or when there is no such process. */
export function openDescriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
