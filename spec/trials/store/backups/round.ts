// One backup of a hub that changes, restored in an empty folder and started there.

import { once } from 'node:events';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { backup, restore } from '../../../../lib/command/remote/backup.ts';
import { AskedHub } from '../../../support/asked-hub.ts';
import { startKilledHub } from '../kills/killed-hub.ts';
import { checkMoment } from './flow.ts';
import type { Load } from './load.ts';

export interface Round {
  readonly port: number;
  readonly load: Load;
  readonly pairs: number;
  /** A folder for this round alone. */
  readonly folder: string;
  /** The hub that is restored does not warm up. */
  readonly isQuick?: boolean;
}

export interface RoundResult {
  readonly mistakes: readonly string[];
  readonly backupMs: number;
  readonly startMs: number;
}

/** What is younger than this may not be on the disk yet. */
const unsafeMs = 500;
const silent = { print: () => {}, printError: () => {} };

export async function backUpOnce({ port, load, pairs, folder, isQuick }: Round): Promise<RoundResult> {
  await mkdir(folder, { recursive: true });
  const [file, restored] = [join(folder, 'backup.tar'), join(folder, 'restored')];
  const url = `http://127.0.0.1:${port}`;
  const startedAt = performance.now();
  const from = Math.max(0, load.toldBefore(unsafeMs));
  await backup(file, { url, username: '', password: '', token: '' }, silent);
  const to = load.sent;
  const backupMs = performance.now() - startedAt;
  await restore(file, restored, 'patchbay', silent);
  const mistakes = await checkDatabases(join(restored, 'data'));
  const hub = await startKilledHub(restored, isQuick);
  try {
    const complaints = hub.complaints.filter((message) => !message.includes('had not ended cleanly')); // it still runs
    mistakes.push(...complaints.map((message) => `it complained: ${message}`));
    mistakes.push(...checkMoment(await readValues(hub.port), pairs, from, to));
    return { mistakes, backupMs, startMs: hub.startMs };
  } finally {
    hub.process.kill();
    await once(hub.process, 'exit');
  }
}

/** Each database is whole. */
async function checkDatabases(folder: string): Promise<string[]> {
  const mistakes: string[] = [];
  for (const name of await readdir(folder)) {
    const database = new DatabaseSync(join(folder, name), { readOnly: true });
    const [result] = Object.values(database.prepare('PRAGMA integrity_check(1)').get()!);
    if (result !== 'ok') mistakes.push(`${name}: ${result}`);
    database.close();
  }
  return mistakes;
}

async function readValues(port: number): Promise<Map<string, unknown>> {
  const parameters = await new AskedHub(port).parameters();
  return new Map(parameters.map(({ parameter, value }) => [parameter, value]));
}
