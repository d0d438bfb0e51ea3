// How the subjects that have a server measure it: a fresh process, a load, and an orderly end. And which servers there are
// besides the hub.

import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { performTask, type ServerProcess, startProgram } from '../../spec/support/system/task-process.ts';
import type { Contender, Measurement, Metric } from '../harness/subject.ts';
import type { Measured } from '../load/measuring-window.ts';

/** A latency that was measured while server and load waited for cores is that of the machine. */
export const waitedMetric: Metric = { key: 'waited', title: 'server and load waited for a core, %', digits: 1 };
export const relayName = 'raw uWebSockets.js';
export const natsName = 'NATS';
const natsCommand = 'nats-server';

/** Starts a server, runs a load against it and stops it, whatever happens; resolves to what the load reports. */
export function measureServer<Result>(
  start: () => Promise<ServerProcess>,
  load: string,
  task: (server: ServerProcess) => object,
): Promise<Result> {
  return once(start, (server) => performTask<Result>(load, task(server)));
}

/**
 * Creates a contender that is measured by a load: `rate` and `perBusySecond` of what the load counts, `busy` (%), and `busyNs`
 * for each. A task that is a function is made when the server has started.
 */
export function loadContender<Task extends { readonly port: number; readonly serverPid: number }>(
  identity: Omit<Contender, 'measure' | 'start'>,
  start: () => Promise<ServerProcess>,
  load: string,
  task: Omit<Task, 'port' | 'serverPid'> | (() => Omit<Task, 'port' | 'serverPid'>),
): Contender & Required<Pick<Contender, 'start'>> {
  const measure = async ({ port, pid }: ServerProcess): Promise<Measurement> => {
    const whole = { ...(typeof task === 'function' ? task() : task), port, serverPid: pid };
    const { done, elapsedMs, serverBusyMs } = await performTask<Measured>(load, whole);
    return {
      rate: (done / elapsedMs) * 1000,
      perBusySecond: (done / serverBusyMs) * 1000,
      busy: (serverBusyMs / elapsedMs) * 100,
      busyNs: (serverBusyMs * 1e6) / done,
    };
  };
  return {
    ...identity,
    measure: () => once(start, measure),
    async start() {
      const server = await start();
      return { measure: () => measure(server), stop: () => server.stop() };
    },
  };
}

/** Works with a server that is stopped afterwards, whatever happens. */
async function once<Result>(
  start: () => Promise<ServerProcess>,
  work: (server: ServerProcess) => Promise<Result>,
): Promise<Result> {
  const server = await start();
  try {
    const result = await work(server);
    await server.stop();
    return result;
  } catch (error) {
    await server.stop().catch(() => {}); // what was found comes first
    throw error;
  }
}

let hasNats: boolean | undefined;

/** Says why NATS is not measured; undefined: it is there. */
export function missingNats(): string | undefined {
  hasNats ??= spawnSync(natsCommand, ['--version']).status === 0;
  return hasNats
    ? undefined
    : `${natsName} was left out: there is no ${natsCommand} in PATH (Debian has a package of that name)`;
}

/** Starts NATS with WebSocket on a free port of this machine; no client is given up before a minute. */
export async function startNats(folder: string): Promise<ServerProcess> {
  const file = join(folder, 'nats.conf');
  const settings = [
    'listen: "127.0.0.1:-1"',
    'websocket { listen: "127.0.0.1:-1", no_tls: true }',
    'max_pending: 1GB',
    'write_deadline: "60s"',
  ];
  await writeFile(file, settings.join('\n'));
  return startProgram(natsCommand, ['-c', file], /websocket clients on ws:\/\/127\.0\.0\.1:(\d+)/);
}
