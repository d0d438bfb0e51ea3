// Files and sockets that this process may have open at once, and has, where Linux tells. When there is none left a listener is woken
// by a client that it cannot accept, again and again.

import { readdirSync, readFileSync } from 'node:fs';

/** How many may be open (`ulimit -n`); infinite where the system does not tell. */
export function descriptorLimit(): number {
  try {
    const soft = /^Max open files +(\d+) /m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** How many are open; 0 where the system does not tell. */
export function openDescriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return 0;
  }
}
