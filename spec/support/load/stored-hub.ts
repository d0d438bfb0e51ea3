// A hub under an even load of changes, either without a store or with one that records all of them.

import { once } from 'node:events';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { inTemporaryFolder } from '../folder.ts';
import { type ServerProcess, startHub, startTask } from '../system/task-process.ts';
import type { EvenWritesTask } from './even-writes.ts';

/** A hub, and what records. */
interface Load {
  /** The source tree of the hub. */
  readonly hubFolder: string;
  readonly parameters: number;
  readonly changesPerSecond: number;
  /** Undefined: the hub has no store. */
  readonly maxSize: string | undefined;
}

export interface LoadedHub {
  readonly hub: ServerProcess;
  /** The addresses of twenty parameters that are not part of the load. */
  readonly others: readonly string[];
  /** How much room the files of the store take. */
  bytes(): Promise<number>;
}

interface Recorded {
  readonly rows: number;
  readonly gaps: number;
}

/** Runs work beside a hub under load, ends both, and reports what the history then has. Errors: also if the load ended by itself. */
export async function besideLoad<Result>(
  { hubFolder, parameters, changesPerSecond, maxSize }: Load,
  work: (loaded: LoadedHub) => Promise<Result>,
): Promise<{ readonly result: Result; readonly recorded: Recorded }> {
  return inTemporaryFolder('store', async (folder) => {
    const data = join(folder, 'data');
    const ids = Array.from({ length: parameters }, (_, index) => `p${index}`);
    const others = Array.from({ length: 20 }, (_, index) => `neighbour/${index}`);
    const store = maxSize === undefined ? {} : { store: { type: 'store', folder: data, maxSize } };
    const desk = { type: 'dummy', parameters: [...ids, ...others].map((id) => `${id},F`) };
    const hub = await startHub({ connections: { desk, ...store } }, folder, { hubFolder });
    const addresses = ids.map((id) => `desk/${id}`);
    const task = { port: hub.port, addresses, changesPerSecond } satisfies EvenWritesTask;
    const { process: writes } = startTask('spec/support/load/even-writes.ts', task);
    let isWritten = false;
    const result = await work({
      hub,
      others: others.map((id) => `desk/${id}`),
      bytes: () => bytesOf(data),
    }).finally(async () => {
      isWritten = writes.connected;
      if (isWritten) {
        writes.disconnect();
        await once(writes, 'exit');
      }
      await hub.stop();
    });
    if (!isWritten) throw new Error('What writes was cut off before the end: what was measured is of a hub at rest');
    return { result, recorded: maxSize === undefined ? { rows: 0, gaps: 0 } : recordedIn(data) };
  });
}

async function bytesOf(folder: string): Promise<number> {
  const names = await readdir(folder);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

function recordedIn(folder: string): Recorded {
  const database = new DatabaseSync(join(folder, 'history.db'), { readOnly: true });
  try {
    const count = (table: string) =>
      (database.prepare(`SELECT count(*) AS count FROM ${table}`).get() as { count: number }).count;
    return { rows: count('change'), gaps: count('gap') };
  } finally {
    database.close();
  }
}
