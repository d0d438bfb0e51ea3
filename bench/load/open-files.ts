// How many sockets a process may open: a benchmark that needs more says so instead of failing in the middle.

import { readFileSync } from 'node:fs';

/** The hard limit of open files, up to which Node raises its own; infinite where it is not told. */
export function openFilesLimit(): number {
  try {
    const line = /^Max open files\s+\S+\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
    return Number(line?.[1] === 'unlimited' ? Number.POSITIVE_INFINITY : line?.[1]);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
