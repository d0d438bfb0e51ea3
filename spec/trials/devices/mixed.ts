// The part of the trial with 200 devices of mixed types, half of them dead: nothing listens, or the peer accepts and never sends anything,
// or has been stopped. Ordinary clients must not be affected, the live half must work, and the dead half must be stale. A new type needs
// one more row in `kinds`.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import mqtt from 'mqtt';
import { WebSocketServer } from 'ws';
import { becomesSo, eventually } from '../../support/deadline.ts';
import { thisTree } from '../../support/folder.ts';
import type { NeighboursResult, NeighboursTask } from '../../support/load/neighbours.ts';
import { freePort, isListening } from '../../support/system/port.ts';
import { startHub, startTask } from '../../support/system/task-process.ts';
import { notify } from '../trial.ts';
import type { Breaks, Stage } from './stage.ts';

const devices = 200;
const neighbours = 20;
/** What the p99 of the others may be beside the devices, of what it was without them. */
const ratio = 1.2;

/** A kind of device: the settings of a connection to one at an address; its parameter is `level`. */
interface Kind {
  connect(port: number): object;
  /** Starts a real peer that reports and confirms values; returns its port. */
  start(stage: Stage): Promise<number>;
}

const line = {
  transports: ['tcp', 'udp', 'ws'],
  about: 'a number that an echo reports',
  frame: { end: '\n' },
  parameters: {
    level: {
      type: 'I',
      ask: { send: 'level?', reply: 'level={value:int}', every: '1s' },
      write: { send: 'level={value}', reply: 'level={value}' },
    },
  },
};

const answer = {
  about: 'a number of a web server',
  transports: ['http'],
  parameters: { level: { type: 'I', ask: { path: '/level', reply: { level: '{value}' }, every: '1s' } } },
};

const kinds: Readonly<Record<string, Kind>> = {
  tcp: {
    connect: (port) => ({ type: 'device', tcp: `127.0.0.1:${port}`, protocol: './line.device.json5' }),
    start: startLines('TCP-LISTEN'),
  },
  udp: {
    connect: (port) => ({ type: 'device', udp: `127.0.0.1:${port}`, protocol: './line.device.json5' }),
    start: startLines('UDP-LISTEN'),
  },
  ws: {
    connect: (port) => ({ type: 'device', ws: `ws://127.0.0.1:${port}`, protocol: './line.device.json5' }),
    async start(stage) {
      const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
      stage.onEnd(() => server.close());
      server.on('connection', (socket) => socket.on('message', (text) => socket.send(String(text).replace('?', '=7'))));
      await once(server, 'listening');
      return (server.address() as { port: number }).port;
    },
  },
  http: {
    connect: (port) => ({ type: 'device', http: `http://127.0.0.1:${port}/`, protocol: './http.device.json5' }),
    async start(stage) {
      const server = createHttpServer((_, response) => response.end('{"level":7}')).listen(0, '127.0.0.1');
      stage.onEnd(() => server.close());
      await once(server, 'listening');
      return (server.address() as { port: number }).port;
    },
  },
  mqtt: {
    connect: (port) => ({
      type: 'mqtt',
      url: `mqtt://127.0.0.1:${port}`,
      parameters: { level: { type: 'I', topic: 'level', set: 'level/set' } },
    }),
    async start(stage) {
      const port = await freePort();
      const folder = await stage.folder({ 'mosquitto.conf': `listener ${port} 127.0.0.1\nallow_anonymous true\n` });
      stage.run('mosquitto', ['-c', join(folder, 'mosquitto.conf')]);
      await eventually(() => isListening(port), 'mosquitto to listen');
      const device = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`);
      stage.onEnd(() => device.endAsync(true));
      await device.publishAsync('level', '7', { retain: true });
      return port;
    },
  },
  osc: {
    connect: (port) => ({
      type: 'osc',
      tcp: `127.0.0.1:${port}`,
      framing: 'length',
      idleTimeout: '1500ms', // or somebody who accepts and is silent would seem to be there
      queries: [{ send: '/ping', every: '500ms' }],
      parameters: { level: { address: '/level', type: 'I' } },
    }),
    async start(stage) {
      const port = await freePort();
      stage.run('socat', ['-T', '3600', `TCP-LISTEN:${port},bind=127.0.0.1,reuseaddr,fork`, 'EXEC:cat']);
      await eventually(() => isListening(port), 'socat to listen');
      return port;
    },
  },
};

/** `sed` answers each line behind a port of socat. */
function startLines(listen: string): Kind['start'] {
  return async (stage) => {
    const port = await freePort();
    stage.run('socat', [`${listen}:${port},bind=127.0.0.1,reuseaddr,fork`, 'SYSTEM:sed -u "s/?/=7/"']);
    if (listen.startsWith('TCP')) await eventually(() => isListening(port), 'socat to listen');
    return port;
  };
}

/** The ways to be dead: nothing listens; a peer accepts and never sends anything. */
async function deadPorts(stage: Stage): Promise<readonly number[]> {
  const silent = createServer((socket) => socket.on('error', () => {})).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  stage.onEnd(() => silent.close());
  return [await freePort(), (silent.address() as { port: number }).port];
}

interface Report {
  readonly id: string;
  readonly state: string;
}

export async function tryMixed(stage: Stage, { stops: isFull }: Breaks): Promise<void> {
  const dead = await deadPorts(stage);
  const connections: Record<string, object> = {};
  const rows = Object.entries(kinds);
  const lived = new Map<string, number>();
  for (const [name, kind] of rows) lived.set(name, await kind.start(stage));
  for (let index = 0; index < devices; index++) {
    const [name, kind] = rows[index % rows.length]!;
    const place = Math.floor(index / rows.length);
    const isAlive = place % 2 === 0;
    connections[`${isAlive ? 'live' : 'dead'}-${name}-${place}`] = kind.connect(
      isAlive ? lived.get(name)! : dead[Math.floor(place / 2) % dead.length]!,
    );
  }
  const ms = isFull ? 10_000 : 2000;
  const without = await measure(stage, {}, ms);
  const beside = await measure(stage, connections, ms);
  const shown = `${devices} devices, half of them dead: p99 of the others ${beside.latency.p99.toFixed(1)} ms, without them ${without.latency.p99.toFixed(1)} ms`;
  notify(`  ${shown}`);
  const states = (prefix: string) => beside.reports.filter(({ id }) => id.startsWith(prefix));
  const wrong = [
    ...states('live-').filter(({ state }) => state !== 'running'),
    ...states('dead-').filter(({ state }) => state === 'running'),
  ];
  assert.deepEqual(
    wrong.map(({ id, state }) => `${id} ${state}`),
    [],
    'the live half runs, and the dead one does not',
  );
  if (isFull) assert.ok(beside.latency.p99 <= without.latency.p99 * ratio, `expected at most ${ratio} times as much`);
}

/** Measures ordinary clients of a hub with these connections. */
async function measure(stage: Stage, connections: Readonly<Record<string, object>>, ms: number) {
  const addresses = Array.from({ length: neighbours }, (_, index) => `desk/neighbour/${index}`);
  const desk = { type: 'dummy', parameters: addresses.map((address) => `${address.slice('desk/'.length)},F`) };
  const folder = await stage.folder({
    'line.device.json5': JSON.stringify(line),
    'http.device.json5': JSON.stringify(answer),
  });
  const hub = await startHub({ connections: { ...connections, desk } }, folder, { hubFolder: thisTree });
  try {
    const reports = async () => {
      const answer = await fetch(`http://127.0.0.1:${hub.port}/hub/connections`);
      return ((await answer.json()) as { connections: Report[] }).connections;
    };
    await becomesSo(
      async () => (await reports()).every(({ id, state }) => !id.startsWith('live-') || state === 'running'),
      { deadlineMs: 20_000, everyMs: 200 },
    );
    const watching = startTask('spec/support/load/neighbours.ts', {
      port: hub.port,
      addresses,
      beforeMs: 1000,
      duringMs: ms,
    } satisfies NeighboursTask);
    stage.onEnd(() => watching.process.kill('SIGKILL'));
    await watching.answer();
    watching.process.send('go');
    const { during } = await watching.answer<NeighboursResult>();
    return { latency: during, reports: await reports() };
  } finally {
    await hub.stop(true);
  }
}
