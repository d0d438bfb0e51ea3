// How long this process has worked. What others on the machine take meanwhile is no fault of its clients.

import { cpuUsage } from 'node:process';

/** The time of the processor that the process has used since it began, in milliseconds. */
export function processorMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}
