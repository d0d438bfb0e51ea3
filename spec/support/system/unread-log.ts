// A hub whose log goes where a spec says, and which is asked over HTTP since its log cannot be read.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import type { ExecutionContext } from 'ava';
import { deadlineMs, eventually, within } from '../deadline.ts';
import { createFolder } from '../folder.ts';
import { api } from '../hub.ts';
import { dependent } from './dependent.ts';
import { idleTimeOf } from './machine.ts';
import { freePort } from './port.ts';

const main = resolve(import.meta.dirname, '../../../lib/main.ts');

export interface Health {
  readonly status: string;
  readonly log: { readonly state: string; readonly reason: string; readonly lost: number };
}

export interface UnreadHub {
  readonly process: ChildProcess;
  ask(path: string, init?: RequestInit): Promise<string>;
  /** Asks until its health is as expected. */
  until(isAsExpected: (health: Health) => boolean): Promise<Health>;
  /** Asks it to end, and waits for that; how long it would take on a machine that does nothing else. */
  stop(): Promise<{ status: number; ms: number }>;
}

/** Starts a hub of so many connections, each of which logs a line at its start; `spawnHub` is given its command. */
export async function startUnreadHub(
  t: ExecutionContext,
  count: number,
  spawnHub: (program: string, args: readonly string[]) => ChildProcess,
): Promise<UnreadHub> {
  const port = await freePort();
  const desks = Array.from({ length: count }, (_, index) => [`desk-${index}`, { type: 'dummy', parameters: ['a,I'] }]);
  const flow = { connections: { api: { ...api, port }, ...Object.fromEntries(desks) } };
  const folder = await createFolder(t, { 'flow.json5': flow });
  const args = [main, 'run', '--log-format', 'json', '--no-watch', '--no-warm-up', join(folder, 'flow.json5')];
  const hub = spawnHub(...dependent(process.execPath, args));
  t.teardown(() => hub.kill('SIGKILL'));
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      ...init,
      signal: AbortSignal.timeout(deadlineMs),
    });
    return response.text();
  };
  const until = async (isAsExpected: (health: Health) => boolean) => {
    let health: Health | undefined;
    await eventually(async () => {
      health = await ask('/hub/health').then(
        (text): Health => JSON.parse(text),
        () => undefined,
      );
      return health !== undefined && isAsExpected(health);
    }, `a health of ${isAsExpected}`);
    return health!;
  };
  const stop = async () => {
    const ended = once(hub, 'exit');
    let status = Number.NaN;
    const ms = await idleTimeOf(async () => {
      hub.kill('SIGTERM');
      [status] = await within(ended, 'the end of the hub');
    });
    return { status, ms };
  };
  return { process: hub, ask, until, stop };
}
