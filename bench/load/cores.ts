// Keeps a server and its load on cores of their own. A scheduler that sees two processes talk puts them on one core as
// soon as anything else runs, and the rate of both halves from one round to the next.

import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** Puts the main thread of the server on the first core, and this process on the last; false where that cannot be done. */
export function keepApart(serverPid: number): boolean {
  const cores = availableParallelism();
  if (cores < 2) return false;
  try {
    execFileSync('taskset', ['-cp', '0', String(serverPid)], { stdio: 'ignore' });
    execFileSync('taskset', ['-acp', String(cores - 1), String(process.pid)], { stdio: 'ignore' });
    return true;
  } catch {
    return false; // no taskset (util-linux): it is as the scheduler likes
  }
}
