// npm run trial -- ember-plus: a hub mirrors a provider with many nodes, a large matrix and streams, and serves it to consumers, beside
// twenty ordinary clients. The provider is killed, stopped and cut off. Exit status 1 if a value is wrong or late, or the clients are
// affected.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { messageOf } from '../../../lib/model/error.ts';
import type { DeviceMessage, DeviceTask } from '../../connections/ember-plus/device.ts';
import { firstClient, secondClient } from '../../connections/ember-plus/peers.ts';
import { untilSo } from '../../support/deadline.ts';
import { inTemporaryFolder, thisTree } from '../../support/folder.ts';
import type { NeighboursResult, NeighboursTask } from '../../support/load/neighbours.ts';
import { freePort } from '../../support/system/port.ts';
import { startHub, startTask } from '../../support/system/task-process.ts';
import { defineTrial, notify } from '../trial.ts';

const neighbours = 20;
const idleMs = 2000;
const program = join(import.meta.dirname, '../../connections/ember-plus/device.ts');

interface Listed {
  readonly parameter: string;
  readonly value?: unknown;
  readonly staleSince?: unknown;
}

async function startDevice(task: DeviceTask): Promise<ChildProcess> {
  const child = fork(program, { execArgv: ['--disable-warning=ExperimentalWarning'] });
  child.on('error', () => {}); // it was killed while it is told something
  child.send(task);
  await once(child, 'message');
  return child;
}

/** A proxy between the hub and its provider; a cut link silently passes nothing. */
async function startRelay(target: number) {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((socket) => {
    const other = connect(target, '127.0.0.1');
    for (const [one, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => to.destroy());
      one.on('data', (bytes) => !isCut && to.write(bytes));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as { port: number }).port,
    cut(isSo: boolean) {
      isCut = isSo;
    },
    garble() {
      for (const socket of sockets) socket.write(Buffer.from('fe000e0001c001021f02605aff00fe0102ff7f7f', 'hex'));
    },
    end() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

export const trial = defineTrial({
  about:
    'mirrors a large Ember+ provider while ordinary clients use the hub, provides it to consumers, kills it and cuts it off',
  options: {
    nodes: ['the number of nodes in the provider', 2000, 150],
    signals: ['the number of targets and of sources in its matrix', 1000, 50],
    meters: ['the number of streams that it sends at 25 Hz', 100, 20],
    seconds: ['how long the streams are watched, in seconds', 10, 2],
    ratio: ["what the others' p99 may be of what it was before", 1.2, 100],
    limit: ['the time limit for values to be fresh again after the other side returns, in seconds', 5, 60],
  },
  async run({ nodes, signals, meters, seconds, ratio, limit }) {
    const [port, shownPort] = await Promise.all([freePort(), freePort()]);
    const task: DeviceTask = { port, channels: nodes, signals, meters };
    let device = await startDevice(task);
    const tell = (message: DeviceMessage) => device.send(message);
    const relay = await startRelay(port);
    const ids = Array.from({ length: neighbours }, (_, index) => `neighbour/${index}`);
    const flow = {
      connections: {
        desk: { type: 'dummy', parameters: ids.map((id) => `${id},F`) },
        it: { type: 'ember-plus', tcp: `127.0.0.1:${relay.port}`, idleTimeout: idleMs },
        shown: {
          ...{ type: 'ember-plus', listen: `127.0.0.1:${shownPort}`, read: ['it/device/all/**'] },
          write: ['it/device/channels/**'],
          matrices: { router: { targets: `it/device/router/{n:0..${signals - 1}}`, sources: signals, none: -1 } },
        },
      },
    };
    const downs: (() => unknown)[] = [];
    try {
      return await inTemporaryFolder('ember-plus', async (folder) => {
        const hub = await startHub(flow, folder, { hubFolder: thisTree });
        downs.push(() => hub.stop());
        const url = `http://127.0.0.1:${hub.port}`;
        const listed = async () => {
          const all = (await (await fetch(`${url}/hub/parameters`)).json()) as Listed[];
          return all.filter(({ parameter }) => parameter.startsWith('it/'));
        };
        const count = 2 * nodes + signals + meters + 11;
        const areAll = async (what: string, withinMs: number, isSo: (one: Listed) => boolean) => {
          const fromMs = performance.now();
          await untilSo(
            `${count} ${what} parameters`,
            async () => {
              const all = await listed();
              return all.length === count && all.every(isSo);
            },
            { deadlineMs: withinMs, everyMs: 100 },
          );
          return performance.now() - fromMs;
        };
        const isFresh = ({ staleSince }: Listed) => staleSince === undefined;
        const isStale = ({ staleSince, parameter }: Listed) => staleSince !== undefined || parameter.endsWith('/go');
        const expected = new Map<string, unknown>();
        for (let channel = 1; channel <= nodes; channel++) {
          const at = `it/device/channels/group-${Math.ceil(channel / 100)}/ch-${channel}`;
          expected.set(`${at}/gain`, -channel).set(`${at}/mute`, channel % 2 === 0);
        }
        for (let target = 0; target < signals; target++)
          expected.set(`it/device/router/${target}`, (target + 1) % signals);
        const isRight = ({ parameter, value }: Listed) => !expected.has(parameter) || expected.get(parameter) === value;

        const mirroredMs = await areAll('right', 60_000, (one) => isRight(one) && isFresh(one));
        notify(`mirror: ${nodes} nodes with ${count} parameters after ${Math.round(mirroredMs)} ms: holds`);

        // every target of the matrix is connected, and confirmed
        const writes: Record<string, number> = {};
        for (let target = 0; target < signals; target++) {
          const address = `it/device/router/${target}`;
          writes[address] = (target + Math.floor(signals / 2)) % signals;
          expected.set(address, writes[address]);
        }
        const connectedMs = performance.now();
        const waiting = Object.entries(writes);
        const send = async () => {
          for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
            const [parameter, value] = next;
            const body = JSON.stringify({ parameter, value });
            const headers = { 'content-type': 'application/json' };
            const answer = await fetch(`${url}/update?confirm=30s`, { method: 'POST', headers, body });
            if (answer.status !== 200) throw new Error(`${parameter}: ${answer.status} ${await answer.text()}`);
          }
        };
        await Promise.all(Array.from({ length: 40 }, send));
        const tookMs = performance.now() - connectedMs;
        await areAll('connected', 5000, isRight);
        notify(`matrix: ${signals} × ${signals}, all connected and confirmed in ${Math.round(tookMs)} ms: holds`);

        // streams, beside others
        const watching = startTask('spec/support/load/neighbours.ts', {
          ...{ port: hub.port, addresses: ids.map((id) => `desk/${id}`) },
          ...{ beforeMs: Math.max(seconds, 2) * 1000, duringMs: seconds * 1000 },
        } satisfies NeighboursTask);
        downs.push(() => watching.process.kill('SIGKILL'));
        await watching.answer();
        const frames = async () => {
          const { connections } = (await (await fetch(`${url}/hub/connections`)).json()) as {
            connections: { id: string; wire?: { framesIn: number } }[];
          };
          return connections.find(({ id }) => id === 'it')?.wire?.framesIn ?? 0;
        };
        const before = await frames();
        tell({ streamsPerSecond: 25 });
        watching.process.send('go');
        const { before: quiet, during } = await watching.answer<NeighboursResult>();
        const got = (await frames()) - before;
        const least = Math.ceil(meters / 25) * 25 * seconds * 0.8;
        const shown = `${meters} at 25 Hz, ${got} messages, p99 of others ${quiet.p99.toFixed(1)} ms before, ${during.p99.toFixed(1)} ms during`;
        if (got < least) throw new Error(`expected at least ${least} messages, got ${shown}`);
        if (during.p99 > quiet.p99 * ratio) throw new Error(`expected at most ${ratio} times the p99, got ${shown}`);
        notify(`streams: ${shown}: holds`);

        // killed, stopped, cut off, garbled
        const results: string[] = [];
        const restart = async () => {
          device = await startDevice(task);
        };
        const harms: readonly (readonly [string, () => void, () => unknown])[] = [
          ['SIGKILL', () => device.kill('SIGKILL'), restart],
          ['SIGSTOP', () => device.kill('SIGSTOP'), () => device.kill('SIGCONT')],
          ['cut', () => relay.cut(true), () => relay.cut(false)],
        ];
        for (const [name, harm, mend] of harms) {
          harm();
          const staleMs = await areAll('stale', 2 * idleMs + 2000, isStale);
          if (name === 'SIGKILL')
            for (let target = 0; target < signals; target++)
              expected.set(`it/device/router/${target}`, (target + 1) % signals);
          await mend();
          const freshMs = await areAll('fresh', limit * 1000, (one) => isFresh(one) && isRight(one));
          results.push(`${name} stale after ${Math.round(staleMs)} ms, back after ${Math.round(freshMs)} ms`);
        }
        relay.garble();
        await after(500);
        await areAll('right', limit * 1000, (one) => isFresh(one) && isRight(one));
        notify(`death: ${results.join('; ')}; garbage changes nothing: holds`);

        // what the hub shows to consumers: of what it mirrors, all channels and the matrix
        const client = await firstClient({ teardown: (down) => downs.push(down) }, shownPort);
        const expandedMs = performance.now();
        await client.expand(client.tree);
        const expandMs = performance.now() - expandedMs;
        const other = await secondClient({ teardown: (down) => downs.push(down) }, shownPort);
        await other.getDirectoryAsync();
        const path = `patchbay/it/device/channels/group-${Math.ceil(nodes / 100)}/ch-${nodes}/gain`;
        const gain = await client.getElementByPath(path.replaceAll('/', '.'));
        if (gain.contents.value !== -nodes) throw new Error(`expected the gain ${-nodes}, got ${gain.contents.value}`);
        await other.setValueAsync(await other.getElementByPathAsync(path), 5);
        await untilSo('the value of another consumer', () => gain.contents.value === 5, {
          ...{ deadlineMs: 5000, everyMs: 20 },
        });
        const matrix = await client.getElementByPath('patchbay.router');
        const { contents } = await (await client.getDirectory(matrix)).response;
        const connections = Object.keys(contents.connections).length;
        if (connections !== signals) throw new Error(`expected ${signals} connections, got ${connections}`);
        notify(
          `provider: a consumer reads ${2 * nodes} parameters in ${Math.round(expandMs)} ms and ${connections} connections, another writes: holds`,
        );
        return true;
      });
    } catch (error) {
      notify(`**${messageOf(error)}**`);
      return false;
    } finally {
      for (const down of downs.reverse()) await Promise.resolve(down()).catch(() => {});
      relay.end();
      device.kill('SIGKILL');
    }
  },
});
