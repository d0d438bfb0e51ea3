// What any program tells of itself, under the names that all client libraries of Prometheus use.

import { statSync } from 'node:fs';
import { cpuUsage, memoryUsage, uptime } from 'node:process';
import type { Families } from './families.ts';
import { loopDelays } from './loop-delay.ts';

export function addProgram(families: Families): void {
  const cpu = 'Total user and system CPU time spent in seconds.';
  families.counter('process_cpu_seconds_total', cpu, () => {
    const { user, system } = cpuUsage();
    return (user + system) / 1e6;
  });
  const startedAt = Date.now() / 1000 - uptime();
  families.gauge('process_start_time_seconds', 'Start time of the process since unix epoch.', () => startedAt);
  families.gauge('process_resident_memory_bytes', 'Resident memory size.', () => memoryUsage.rss());
  families.gauge('nodejs_heap_size_used_bytes', 'Heap in use.', () => memoryUsage().heapUsed);
  if (openFiles() > 0) families.gauge('process_open_fds', 'Number of open file descriptors.', openFiles);
  families.histogram(
    'patchbay_event_loop_delay_seconds',
    'By how much the event loop is late, 10 times a second.',
    loopDelays,
  );
}

/** How many files are open; 0: this system does not say (Linux before 6.2, others). */
function openFiles(): number {
  return statSync('/proc/self/fd', { throwIfNoEntry: false })?.size ?? 0;
}
