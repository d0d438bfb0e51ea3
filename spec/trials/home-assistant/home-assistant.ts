// npm run trial -- home-assistant: a hub discovers a house with many lights that change constantly, beside twenty ordinary clients. The
// house is written to, killed, stopped and restarted. Exit status 1 if a value is wrong or late, or the clients are affected.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { messageOf } from '../../../lib/model/error.ts';
import type { ServerMessage, ServerTask } from '../../connections/home-assistant/server.ts';
import { untilSo } from '../../support/deadline.ts';
import { inTemporaryFolder, thisTree } from '../../support/folder.ts';
import type { NeighboursResult, NeighboursTask } from '../../support/load/neighbours.ts';
import { freePort } from '../../support/system/port.ts';
import { startHub, startTask } from '../../support/system/task-process.ts';
import { defineTrial, notify } from '../trial.ts';

const neighbours = 20;
const idleMs = 3000;
const program = join(import.meta.dirname, '../../connections/home-assistant/server.ts');

interface Listed {
  readonly parameter: string;
  readonly value?: unknown;
  readonly staleSince?: unknown;
}

async function startServer(task: ServerTask): Promise<ChildProcess> {
  const child = fork(program, { execArgv: ['--disable-warning=ExperimentalWarning'] });
  child.on('error', () => {}); // it was killed while it is told something
  child.send(task);
  await once(child, 'message');
  return child;
}

export const trial = defineTrial({
  about: 'follows and writes thousands of Home Assistant entities beside ordinary clients, and kills Home Assistant',
  options: {
    lights: ['the number of lights in the house', 2000, 200],
    changes: ['the number of changes per second', 2000, 500],
    seconds: ['how long the values change, in seconds', 10, 2],
    ratio: ["what the others' p99 may be of what it was before", 1.2, 100],
    limit: ['the time limit for values to be fresh again after the other side returns, in seconds', 8, 60],
  },
  async run({ lights, changes, seconds, ratio, limit }) {
    const port = await freePort();
    const task: ServerTask = { port, lights };
    let server = await startServer(task);
    const tell = (message: ServerMessage) => server.send(message);
    const ids = Array.from({ length: neighbours }, (_, index) => `neighbour/${index}`);
    const flow = {
      connections: {
        desk: { type: 'dummy', parameters: ids.map((id) => `${id},F`) },
        home: {
          ...{ type: 'home-assistant', url: `http://127.0.0.1:${port}`, token: 'a-long-token', idleTimeout: idleMs },
          discover: { include: ['light.many_*'] },
        },
      },
    };
    const downs: (() => unknown)[] = [];
    try {
      return await inTemporaryFolder('home-assistant', async (folder) => {
        const hub = await startHub(flow, folder, { hubFolder: thisTree });
        downs.push(() => hub.stop());
        const url = `http://127.0.0.1:${hub.port}`;
        const listed = async () => {
          const all = (await (await fetch(`${url}/hub/parameters`)).json()) as Listed[];
          return all.filter(({ parameter }) => parameter.startsWith('home/'));
        };
        const count = 2 * lights;
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
        const isStale = ({ staleSince }: Listed) => staleSince !== undefined;
        const first = (parameter: string) => {
          const number = Number(/\d+/.exec(parameter)![0]);
          const isOn = number % 2 === 0;
          return parameter.endsWith('/brightness') ? (isOn ? (number % 250) + 5 : 0) : isOn;
        };
        const isFirst = ({ parameter, value }: Listed) => value === first(parameter);
        const foundMs = await areAll('right', 60_000, (one) => isFirst(one) && isFresh(one));
        notify(`discovery: ${lights} lights with ${count} parameters after ${Math.round(foundMs)} ms: holds`);

        // changes beside others
        const watching = startTask('spec/support/load/neighbours.ts', {
          ...{ port: hub.port, addresses: ids.map((id) => `desk/${id}`) },
          ...{ beforeMs: Math.max(seconds, 2) * 1000, duringMs: seconds * 1000 },
        } satisfies NeighboursTask);
        downs.push(() => watching.process.kill('SIGKILL'));
        await watching.answer();
        tell({ changesPerSecond: changes });
        watching.process.send('go');
        const { before: quiet, during } = await watching.answer<NeighboursResult>();
        tell({ changesPerSecond: 0 });
        const answered = once(server, 'message');
        tell('calls');
        const { turn } = (await answered)[0] as { turn: number };
        const last = (parameter: string) => {
          const number = Number(/\d+/.exec(parameter)![0]);
          const turns = Math.floor((turn - number) / lights); // the last turn in which the light was set
          if (turns < 0) return first(parameter);
          const at = turns * lights + number;
          return parameter.endsWith('/brightness') ? (Math.floor(at / lights) % 250) + 1 : true;
        };
        const lateMs = await areAll('last', limit * 1000, ({ parameter, value }) => value === last(parameter));
        const shown = `${turn} in ${seconds} s, the last values after ${Math.round(lateMs)} ms, p99 of others ${quiet.p99.toFixed(1)} ms before, ${during.p99.toFixed(1)} ms during`;
        if (turn < changes * seconds * 0.7) throw new Error(`expected ${changes * seconds} changes, got ${shown}`);
        if (during.p99 > quiet.p99 * ratio) throw new Error(`expected at most ${ratio} times the p99, got ${shown}`);
        notify(`changes: ${shown}: holds`);

        // every light is written and confirmed
        const waiting = Array.from({ length: lights }, (_, index) => index + 1);
        const fromMs = performance.now();
        const send = async () => {
          for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
            const body = JSON.stringify({ parameter: `home/light.many_${number}/brightness`, value: 255 });
            const headers = { 'content-type': 'application/json' };
            const answer = await fetch(`${url}/update?confirm=30s`, { method: 'POST', headers, body });
            if (answer.status !== 200) throw new Error(`light ${number}: ${answer.status} ${await answer.text()}`);
          }
        };
        await Promise.all(Array.from({ length: 40 }, send));
        notify(`writes: ${lights} confirmed in ${Math.round(performance.now() - fromMs)} ms: holds`);

        // killed and stopped, under load
        const results: string[] = [];
        for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
          tell({ changesPerSecond: changes });
          await after(300);
          server.kill(signal);
          const staleMs = await areAll('stale', 2 * idleMs + 20_000, isStale);
          if (signal === 'SIGKILL') server = await startServer(task);
          else {
            server.kill('SIGCONT');
            tell({ changesPerSecond: 0 });
          }
          const freshMs = await areAll(
            'fresh',
            limit * 1000,
            (one) => isFresh(one) && (signal === 'SIGSTOP' || isFirst(one)),
          );
          results.push(`${signal} stale after ${Math.round(staleMs)} ms, back after ${Math.round(freshMs)} ms`);
        }
        notify(`death: ${results.join('; ')}: holds`);
        return true;
      });
    } catch (error) {
      notify(`**${messageOf(error)}**`);
      return false;
    } finally {
      for (const down of downs.reverse()) await Promise.resolve(down()).catch(() => {});
      server.kill('SIGKILL');
    }
  },
});
