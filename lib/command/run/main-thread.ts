// How much the main thread has worked, as another thread of the process sees it.

import { readFileSync } from 'node:fs';

/** `utime` and `stime` in proc_pid_stat(5), counted after the name, which may hold spaces. */
const userField = 11;
const systemField = 12;
/** The kernel counts in hundredths of a second, whatever its own clock. */
const tickMs = 10;

/** Processor time of the main thread since its start, in ms; of the whole process where the system does not tell its threads apart. */
export function mainThreadMs(host: NodeJS.Process): number {
  try {
    const stat = readFileSync(`/proc/self/task/${host.pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[userField]) + Number(fields[systemField])) * tickMs;
  } catch {
    const { user, system } = host.cpuUsage(); // it is no Linux, or has no /proc of this process
    return (user + system) / 1000;
  }
}
