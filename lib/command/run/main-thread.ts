// The processor time of the main thread. Another thread of the process reads it.

import { readFileSync } from 'node:fs';

/** The index of `utime` in proc_pid_stat(5), counted after the name, which may contain spaces. */
const userField = 11;
/** The index of `stime` in proc_pid_stat(5), counted after the name. */
const systemField = 12;
/** The length of a tick in milliseconds: the kernel reports hundredths of a second, regardless of its own tick. */
const tickMs = 10;

/**
 * Returns the processor time of the main thread in milliseconds. If the system does not report the time per thread, returns the processor
 * time of the whole process.
 */
export function mainThreadMs(host: NodeJS.Process): number {
  try {
    const stat = readFileSync(`/proc/self/task/${host.pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[userField]) + Number(fields[systemField])) * tickMs;
  } catch {
    const { user, system } = host.cpuUsage(); // not Linux, or /proc is missing
    return (user + system) / 1000;
  }
}
