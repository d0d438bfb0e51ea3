// Real servers of NATS with JetStream: one alone, or several as a cluster. Each can be killed, stopped and started again.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../deadline.ts';
import { pathOf } from '../programs.ts';
import { freePort } from '../system/port.ts';

export interface NatsServer {
  readonly port: number;
  readonly url: string;
  readonly pid: number;
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again after it was killed, with what it had stored. */
  start(): Promise<void>;
  /** Loses what it has stored; while it is killed. */
  lose(): Promise<void>;
}

export interface NatsServers {
  readonly servers: readonly NatsServer[];
  readonly urls: readonly string[];
  end(): Promise<void>;
}

/** How servers are made that are not as usual. */
export interface NatsOptions {
  /** The port at which one server of a cluster reaches another one, which listens on `port`; if omitted, that one. */
  readonly reach?: (from: number, to: number, port: number) => Promise<number>;
  /** The folder of their logs; if omitted, they write none. */
  readonly logs?: string;
  /** The text of their configuration, beside what the command line says. */
  readonly configuration?: string;
}

/** Another program has taken a port between the moment when it was found free and the moment when the server asked for it. */
class PortTaken extends Error {}

/** Starts servers; resolves when each accepts connections, which is before a cluster has elected its leaders. */
export async function startNats(count = 1, options: NatsOptions = {}): Promise<NatsServers> {
  for (;;)
    try {
      return await startOnFreePorts(count, options);
    } catch (error) {
      if (!(error instanceof PortTaken)) throw error;
    }
}

/** Errors: `PortTaken`. */
async function startOnFreePorts(count: number, options: NatsOptions): Promise<NatsServers> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-nats-'));
  const ports = await freePorts(2 * count);
  const file = join(folder, 'server.conf');
  await writeFile(file, options.configuration ?? '');
  const servers = await Promise.all(
    ports.slice(0, count).map(async (port, index) => {
      const name = `server-${index}-${randomUUID()}`;
      const storeFolder = join(folder, String(index));
      const store = ['-c', file, '-js', '-sd', storeFolder];
      const log = options.logs === undefined ? [] : ['-l', join(options.logs, `server-${index}.log`)];
      const cluster = count > 1 ? await clusterArgs(ports.slice(count), index, options) : [];
      return natsServer(name, port, [...store, ...log, ...cluster], storeFolder);
    }),
  );
  const end = async () => {
    await Promise.all(servers.map((server) => server.kill('SIGKILL')));
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  const started = await Promise.allSettled(servers.map((server) => server.start()));
  const failed = started.find(({ status }) => status === 'rejected');
  if (failed === undefined) return { servers, urls: servers.map(({ url }) => url), end };
  await end();
  throw (failed as PromiseRejectedResult).reason;
}

/** `ports` are those on which the members of the cluster listen for one another. */
async function clusterArgs(ports: readonly number[], index: number, { reach }: NatsOptions): Promise<string[]> {
  const portOf = (port: number, to: number) => (reach === undefined || to === index ? port : reach(index, to, port));
  const routes = await Promise.all(ports.map(portOf));
  const urls = routes.map((port) => `nats://127.0.0.1:${port}`);
  // Members tell one another where others are: where nobody listens, when they have to be reached in another way.
  const advertise = reach === undefined ? [] : ['--cluster_advertise', '127.0.0.1:1'];
  return ['--cluster_name', 'spec', '--cluster', urls[index]!, '--routes', urls.join(','), ...advertise];
}

function natsServer(name: string, port: number, args: readonly string[], storeFolder: string): NatsServer {
  let child: ChildProcess | undefined;
  return {
    port,
    url: `nats://127.0.0.1:${port}`,
    get pid() {
      return child!.pid!;
    },
    async kill(signal = 'SIGKILL') {
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    },
    lose: () => rm(storeFolder, { recursive: true, force: true, maxRetries: 5 }),
    async start() {
      const all = ['-n', name, '-a', '127.0.0.1', '-p', String(port), ...args];
      const own = spawn(pathOf('nats-server')!, all, { stdio: 'ignore' });
      child = own;
      await eventually(async () => {
        const found = await serverAt(port);
        if (own.exitCode !== null || (found !== undefined && found !== name)) throw new PortTaken(`port ${port}`);
        return found === name;
      }, `a server that listens on port ${port}`);
    },
  };
}

/** The name by which the server greets that listens on a port; undefined: none greets. */
async function serverAt(port: number): Promise<string | undefined> {
  const socket = connect(port, '127.0.0.1');
  try {
    const [greeting] = await once(socket, 'data', { signal: AbortSignal.timeout(1000) });
    const { server_name: name } = JSON.parse(String(greeting).replace(/^INFO /, ''));
    return name;
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

/** Ports that nobody listens on at this moment: members of a cluster name those of one another before they start. */
export function freePorts(count: number): Promise<number[]> {
  return Promise.all(Array.from({ length: count }, freePort));
}
