// How many files and sockets this process may have open, and has. Only Linux tells. A process that may open no more cannot accept a
// client, and the system wakes its listener again and again.

import { readdirSync, readFileSync } from 'node:fs';

/** Returns how many it may open (`ulimit -n`); infinite where the system does not tell. */
export function descriptorLimit(): number {
  try {
    const soft = /^Max open files +(\d+) /m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Returns how many it has open; 0 where the system does not tell. */
export function openDescriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return 0;
  }
}
