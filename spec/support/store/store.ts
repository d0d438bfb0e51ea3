// Hubs that run one after another with the same flow file and the same store.

import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { type Hub, startHub } from '../../../lib/hub/index.ts';
import { createLogRecorder, type LogRecorder } from '../connection.ts';
import { eventually } from '../deadline.ts';
import { createFolder } from '../folder.ts';

export interface StoredHub extends Hub, Pick<LogRecorder, 'lines' | 'logged'> {}

export interface Installation {
  readonly folder: string;
  /** The database of values. */
  readonly values: string;
  /** Starts a hub; the one before has to be stopped. */
  start(): Promise<StoredHub>;
  /** Waits until no database is open: a hub of the same process may outlive the two seconds that it has to end. */
  closed(): Promise<void>;
  /** Writes another flow file. */
  change(flow: object): Promise<void>;
}

/** A flow with a store in the folder `data` beside it. */
export async function install(
  t: ExecutionContext,
  connections: Readonly<Record<string, object>>,
  { rules = [], store = {} }: { rules?: readonly object[]; store?: object } = {},
): Promise<Installation> {
  const flow = (parts: object) => ({
    connections: { store: { type: 'store', folder: './data', ...store }, ...parts },
    rules,
  });
  const installation = await installText(t, JSON.stringify(flow(connections)));
  return { ...installation, change: (parts) => installation.change(flow(parts)) };
}

/** A flow file whose store is in the folder `data` beside it. */
export async function installText(t: ExecutionContext, text: string): Promise<Installation> {
  const folder = await createFolder(t, { 'flow.json5': text });
  const path = join(folder, 'flow.json5');
  return {
    folder,
    values: join(folder, 'data', 'values.db'),
    async start() {
      const log = createLogRecorder();
      const hub = await startHub({ paths: [path], log });
      t.teardown(() => hub.stop());
      return Object.assign(hub, { lines: log.lines, logged: log.logged });
    },
    async closed() {
      const isOpen = (name: string) => /^\w+\.db-wal$/.test(name); // one that was set aside has another name
      await eventually(async () => !(await readdir(join(folder, 'data'))).some(isOpen), 'no database is open');
    },
    change: (flow) => writeFile(path, JSON.stringify(flow)),
  };
}
