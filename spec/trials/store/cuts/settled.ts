// A hub that starts does not wait for its store, and one that stops waits for two seconds: what takes longer is done all the same.

import { readdir } from 'node:fs/promises';
import { untilSo } from '../../../support/load/deadline.ts';

const looks = { deadlineMs: 60_000, everyMs: 10 };

/** Resolves once these databases of a folder are open: SQLite has a log beside each. */
export function whenOpen(folder: string, databases: readonly string[]): Promise<void> {
  const areOpen = async () => {
    const logs = await logsIn(folder);
    return databases.every((name) => logs.includes(`${name}.db-wal`));
  };
  return untilSo(`${databases.join(' and ')} open in ${folder}`, areOpen, looks);
}

/** Resolves once no database of a folder is open. */
export function whenClosed(folder: string): Promise<void> {
  return untilSo(`no database open in ${folder}`, async () => (await logsIn(folder)).length === 0, looks);
}

async function logsIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('-wal') || name.endsWith('-shm'));
}
