// Pins a server and its load generator to separate cores. Otherwise the scheduler, seeing two processes talk to each other, puts them on
// the same core as soon as anything else runs, which halves the rate of both from one round to the next.

import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Pins the server's main thread to the first core and this process to the last; returns false where pinning is not possible. */
export function keepApart(serverPid: number): boolean {
  const cores = availableParallelism();
  if (cores < 2) return false;
  try {
    execFileSync('taskset', ['-cp', '0', String(serverPid)], { stdio: 'ignore' });
    execFileSync('taskset', ['-acp', String(cores - 1), String(process.pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false; // no taskset (util-linux): left to the scheduler
  }
}
