// The processor time of the main thread, which another thread of the process reads.

import { readFileSync } from 'node:fs';

/** Indexes of `utime` and `stime` in proc_pid_stat(5), counted after the name, which may contain spaces. */
const userField = 11;
const systemField = 12;
/** The length of a tick in milliseconds: the kernel reports hundredths of a second, regardless of its own tick. */
const tickMs = 10;

/**
 * Returns the processor time of the main thread in milliseconds, or of the whole process if the system does not report the time per thread.
 */
export function mainThreadMs(host: NodeJS.Process): number {
  try {
    const stat = readFileSync(`/proc/self/task/${host.pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[userField]) + Number(fields[systemField])) * tickMs;
  } catch {
    const { user, system } = host.cpuUsage(); // not Linux, or no /proc
    return (user + system) / 1000;
  }
}
