// Whether a process that this one has not started is alive.

import { readFileSync } from 'node:fs';

/** Whether a process runs. One that has ended, and that nobody has waited for, does not run any more. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
