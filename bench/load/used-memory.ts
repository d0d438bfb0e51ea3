// What a process holds in memory, after garbage is collected (`node --expose-gc`).

export interface UsedMemory {
  readonly heapBytes: number;
  readonly residentBytes: number;
}

/** Collects garbage, more than once since finalizers free more, and tells what is left. */
export function usedMemory(): UsedMemory {
  if (gc === undefined) throw new Error('expected node --expose-gc');
  for (let times = 0; times < 3; times++) gc();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapBytes: heapUsed + external, residentBytes: rss };
}
