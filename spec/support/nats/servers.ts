// Real servers of NATS with JetStream: one alone, or several as a cluster. Each can be killed, stopped and started again.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../deadline.ts';
import { pathOf } from '../programs.ts';

export interface NatsServer {
  readonly port: number;
  readonly url: string;
  readonly pid: number;
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again after it was killed, with what it had stored. */
  start(): Promise<void>;
}

export interface NatsServers {
  readonly servers: readonly NatsServer[];
  readonly urls: readonly string[];
  end(): Promise<void>;
}

/** Starts servers; resolves when each accepts connections, which is before a cluster has elected its leaders. */
export async function startNats(count = 1): Promise<NatsServers> {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-nats-'));
  const ports = await freePorts(2 * count);
  const routes = ports.slice(count).map((port) => `nats://127.0.0.1:${port}`);
  const servers = Array.from({ length: count }, (_, index) => {
    const cluster = ['--cluster_name', 'spec', '--cluster', routes[index]!, '--routes', routes.join(',')];
    const store = ['-js', '-sd', join(folder, String(index)), '-n', `server-${index}`];
    return natsServer(ports[index]!, [...store, ...(count > 1 ? cluster : [])]);
  });
  await Promise.all(servers.map((server) => server.start()));
  return {
    servers,
    urls: servers.map(({ url }) => url),
    async end() {
      await Promise.all(servers.map((server) => server.kill('SIGKILL')));
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function natsServer(port: number, args: readonly string[]): NatsServer {
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
    async start() {
      child = spawn(pathOf('nats-server')!, ['-a', '127.0.0.1', '-p', String(port), ...args], { stdio: 'ignore' });
      await accepts(port);
    },
  };
}

/** Resolves when something listens on the port. */
function accepts(port: number): Promise<void> {
  return eventually(async () => {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    return isOpen;
  }, `a server that listens on port ${port}`);
}

/** Ports that nobody listens on at this moment: members of a cluster name those of one another before they start. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
