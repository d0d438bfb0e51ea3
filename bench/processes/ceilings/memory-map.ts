// The ceiling of parameters in memory: a Map with a BehaviorSubject of rxjs per address, and nothing else.

import { BehaviorSubject } from 'rxjs';
import { busyMs } from '../../load/busy-time.ts';
import { connectionId, parameterIdOf } from '../../load/flows/many-parameters.ts';
import { usedMemory } from '../../load/used-memory.ts';
import type { MemoryResult } from '../hubs/memory.ts';
import { runTask } from '../task.ts';

export interface MapTask {
  readonly parameters: number;
}

await runTask(({ parameters }: MapTask) => {
  const before = usedMemory();
  const start = performance.now();
  const busyBefore = busyMs(process.pid);
  const subjects = new Map<string, BehaviorSubject<unknown>>();
  for (let index = 0; index < parameters; index++)
    subjects.set(`${connectionId}/${parameterIdOf(index)}`, new BehaviorSubject<unknown>(undefined));
  const declareMs = performance.now() - start;
  const declareBusyMs = busyMs(process.pid) - busyBefore;
  const after = usedMemory();
  if (subjects.size !== parameters) throw new Error(`expected ${parameters} subjects, got ${subjects.size}`);
  return {
    declareMs,
    declareBusyMs,
    heapBytes: after.heapBytes - before.heapBytes,
    residentBytes: after.residentBytes - before.residentBytes,
  } satisfies MemoryResult;
});
