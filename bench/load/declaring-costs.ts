// What it costs a process to make many parameters: time, and the memory that is left taken.

import { busyMs } from './busy-time.ts';
import { usedMemory } from './used-memory.ts';

export interface DeclaringCosts {
  readonly declareMs: number;
  /** How much of that the main thread was working; the rest it waited for the machine. */
  readonly declareBusyMs: number;
  readonly heapBytes: number;
  readonly residentBytes: number;
}

/** Makes the parameters, waits for `settle`, and tells what it took. Errors: those of `declare` and `settle`. */
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
