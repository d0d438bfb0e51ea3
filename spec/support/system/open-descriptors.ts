// How many files and sockets a process has open.

import { readdirSync } from 'node:fs';

/** Errors: where the system does not tell (it is Linux that does), or when there is no such process. */
export function openDescriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
