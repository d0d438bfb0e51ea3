// A hub that starts does not wait for its store, and one that stops waits for two seconds: what takes longer is done all the same.

import { readdir } from 'node:fs/promises';
import { becomesSo } from '../load/deadline.ts';

const deadlineMs = 60_000;
const lookEveryMs = 10;

/** Resolves once these databases of a folder are open: SQLite has a log beside each. */
export function whenOpen(folder: string, databases: readonly string[]): Promise<void> {
  return expectSoon(
    async () => {
      const logs = await logsIn(folder);
      return databases.every((name) => logs.includes(`${name}.db-wal`));
    },
    `${folder}: ${databases.join(' and ')} open`,
  );
}

/** Resolves once no database of a folder is open. */
export function whenClosed(folder: string): Promise<void> {
  return expectSoon(async () => (await logsIn(folder)).length === 0, `${folder}: no database open`);
}

async function expectSoon(isSo: () => Promise<boolean>, what: string): Promise<void> {
  if (!(await becomesSo(isSo, { deadlineMs, everyMs: lookEveryMs })))
    throw new Error(`${what}: not within ${deadlineMs} ms`);
}

async function logsIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('-wal') || name.endsWith('-shm'));
}
