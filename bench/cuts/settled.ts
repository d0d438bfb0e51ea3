// A hub that starts does not wait for its store, and one that stops waits for two seconds: what takes longer is done all the same.

import { readdir } from 'node:fs/promises';
import { setTimeout as after } from 'node:timers/promises';

const deadlineMs = 60_000;
const pollMs = 20;

/** Resolves once these databases of a folder are open: SQLite has a log beside each. */
export function whenOpen(folder: string, databases: readonly string[]): Promise<void> {
  const isOpen = (logs: readonly string[]) => databases.every((name) => logs.includes(`${name}.db-wal`));
  return when(folder, isOpen, `${databases.join(' and ')} open`);
}

/** Resolves once no database of a folder is open. */
export function whenClosed(folder: string): Promise<void> {
  return when(folder, (logs) => logs.length === 0, 'no database open');
}

async function when(folder: string, isSo: (logs: readonly string[]) => boolean, expected: string): Promise<void> {
  for (const startedAt = performance.now(); ; await after(pollMs)) {
    const logs = (await readdir(folder)).filter((name) => name.endsWith('-wal') || name.endsWith('-shm'));
    if (isSo(logs)) return;
    if (performance.now() - startedAt > deadlineMs)
      throw new Error(`${folder}: expected ${expected} within ${deadlineMs} ms, got ${logs.join(', ')}`);
  }
}
