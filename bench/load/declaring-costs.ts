// What declaring many parameters costs a process: time, and the memory that stays in use.

import { busyMs } from '../../spec/support/system/process-usage.ts';
import { usedMemory } from '../../spec/support/system/used-memory.ts';

export interface DeclaringCosts {
  readonly declareMs: number;
  /** Milliseconds the main thread was busy; NaN where the system does not report it (see process-usage.ts). */
  readonly declareBusyMs: number;
  readonly heapBytes: number;
  readonly residentBytes: number;
}

/**
 * Calls `declare`, waits for `settle` if given, and returns the result with its costs. The time of `settle` is not counted. Errors: those
 * of both.
 */
export async function measureDeclaring<Made>(
  declare: () => Made | Promise<Made>,
  settle?: () => Promise<void>,
): Promise<{ readonly made: Made; readonly costs: DeclaringCosts }> {
  const before = usedMemory();
  const start = performance.now();
  const busyBefore = busyMs(process.pid);
  const made = await declare();
  const declareMs = performance.now() - start;
  const declareBusyMs = busyMs(process.pid) - busyBefore;
  await settle?.();
  const after = usedMemory();
  return {
    made,
    costs: {
      declareMs,
      declareBusyMs,
      heapBytes: after.heapBytes - before.heapBytes,
      residentBytes: after.residentBytes - before.residentBytes,
    },
  };
}
