// The other side of the specs of ember-plus: providers in a process of their own, and clients, which others have written.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { freePort } from '../../support/system/port.ts';
import type { DeviceMessage, DeviceTask } from './device.ts';

export interface Device {
  readonly port: number;
  readonly child: ChildProcess;
  tell(message: DeviceMessage): void;
  /** What has been written to it since the last call: `int 5`, `connect 1 3`. */
  written(): Promise<string[]>;
}

/** Starts a provider, which ends with the test. */
export async function startDevice(
  t: Pick<ExecutionContext, 'teardown'>,
  task: Omit<DeviceTask, 'port'> & { readonly port?: number } = {},
): Promise<Device> {
  const port = task.port ?? (await freePort());
  const child = fork(join(import.meta.dirname, 'device.ts'), { execArgv: ['--disable-warning=ExperimentalWarning'] });
  t.teardown(() => child.kill('SIGKILL'));
  child.on('error', () => {}); // it was killed while it is told something
  child.send({ ...task, port } satisfies DeviceTask);
  await once(child, 'message');
  const tell = (message: DeviceMessage) => child.send(message);
  return {
    port,
    child,
    tell,
    async written() {
      const answer = once(child, 'message');
      tell('written');
      return (await answer)[0] as string[];
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the packages have types of their own, which the specs do not need
type Any = any;
const require = createRequire(import.meta.url);

/** Connects the client of emberplus-connection. */
export async function firstClient(t: Pick<ExecutionContext, 'teardown'>, port: number): Promise<Any> {
  const { EmberClient } = require('emberplus-connection');
  const client = new EmberClient('127.0.0.1', port);
  client.on('error', () => {});
  t.teardown(() => client.discard());
  await client.connect();
  return client;
}

/** Connects the client of node-emberplus. */
export async function secondClient(t: Pick<ExecutionContext, 'teardown'>, port: number): Promise<Any> {
  const { EmberClient } = require('node-emberplus');
  const client = new EmberClient({ host: '127.0.0.1', port });
  client.on('error', () => {});
  t.teardown(() => client.disconnectAsync());
  await client.connectAsync();
  return client;
}
