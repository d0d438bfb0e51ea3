// The other side of the specs of home-assistant: a server in a process of its own, and the official client.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { freePort } from '../../support/system/port.ts';
import type { ServerMessage, ServerTask } from './server.ts';

export interface HouseServer {
  readonly port: number;
  readonly child: ChildProcess;
  tell(message: ServerMessage): void;
  /** The service actions that have been called since the last call: `light.turn_on light.kitchen {"brightness":128}`. */
  calls(): Promise<string[]>;
}

/** Starts a server, which ends with the test. */
export async function startServer(
  t: Pick<ExecutionContext, 'teardown'>,
  task: Omit<ServerTask, 'port'> & { readonly port?: number } = {},
): Promise<HouseServer> {
  const port = task.port ?? (await freePort());
  const child = fork(join(import.meta.dirname, 'server.ts'), { execArgv: ['--disable-warning=ExperimentalWarning'] });
  t.teardown(() => child.kill('SIGKILL'));
  child.on('error', () => {}); // it was killed while it is told something
  child.send({ ...task, port } satisfies ServerTask);
  await once(child, 'message');
  const tell = (message: ServerMessage) => child.send(message);
  return {
    port,
    child,
    tell,
    async calls() {
      const answer = once(child, 'message');
      tell('calls');
      return ((await answer)[0] as { calls: string[] }).calls;
    },
  };
}
