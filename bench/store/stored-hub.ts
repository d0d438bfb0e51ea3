// A hub under an even load of changes, with a store that records all of them or without one.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type ServerProcess, startHub } from '../harness/process.ts';
import type { EvenWritesTask } from '../processes/loads/even-writes.ts';
import type { Answer } from '../processes/task.ts';

export interface Load {
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
  /** Ends load and hub; tells what the history then has. */
  end(): Promise<Recorded>;
}

export interface Recorded {
  readonly rows: number;
  readonly gaps: number;
}

const processFile = (name: string) => join(import.meta.dirname, '..', 'processes', `${name}.ts`);

/** Starts `processes/<name>.ts` with a task. */
export function startLoad(name: string, task: object): ChildProcess {
  return fork(processFile(name), [JSON.stringify(task)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

export async function resultOf<Result>(child: ChildProcess): Promise<Result> {
  const [answer] = (await once(child, 'message')) as [Answer<Result>];
  if ('mistake' in answer) throw new Error(answer.mistake);
  return answer.result;
}

export async function startLoadedHub({ parameters, changesPerSecond, maxSize }: Load): Promise<LoadedHub> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-store-'));
  const data = join(folder, 'data');
  const ids = Array.from({ length: parameters }, (_, index) => `p${index}`);
  const others = Array.from({ length: 20 }, (_, index) => `neighbour/${index}`);
  const store = maxSize === undefined ? {} : { store: { type: 'store', folder: data, maxSize } };
  const desk = { type: 'dummy', parameters: [...ids, ...others].map((id) => `${id},F`) };
  const hubFolder = join(import.meta.dirname, '..', '..');
  const hub = await startHub({ connections: { desk, ...store } }, folder, { hubFolder, profileFolder: undefined });
  const addresses = ids.map((id) => `desk/${id}`);
  const writes = startLoad('loads/even-writes', {
    port: hub.port,
    addresses,
    changesPerSecond,
  } satisfies EvenWritesTask);
  return {
    hub,
    others: others.map((id) => `desk/${id}`),
    bytes: () => bytesOf(data),
    async end() {
      const isWritten = writes.connected;
      if (isWritten) {
        writes.disconnect();
        await once(writes, 'exit');
      }
      await hub.stop();
      if (!isWritten) throw new Error('What writes was cut off before the end: what was measured is of a hub at rest');
      const recorded = maxSize === undefined ? { rows: 0, gaps: 0 } : recordedIn(data);
      await rm(folder, { recursive: true, force: true });
      return recorded;
    },
  };
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
