// npm run trial -- osc: OSC messages at a fixed rate, over UDP and TCP, beside twenty ordinary clients. Exit status 1 if a message is
// missing, or the clients are affected.

import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../lib/model/error.ts';
import { becomesSo } from '../../support/deadline.ts';
import { inTemporaryFolder, thisTree } from '../../support/folder.ts';
import type { NeighboursResult, NeighboursTask } from '../../support/load/neighbours.ts';
import { compareWindows, countOf, type Windows } from '../../support/load/windows.ts';
import { freePort } from '../../support/system/port.ts';
import { type ServerProcess, startHub, startTask, type TaskProcess } from '../../support/system/task-process.ts';
import { defineTrial, notify } from '../trial.ts';
import type { SenderResult, SenderTask } from './sender.ts';

interface Part extends Pick<SenderTask, 'way' | 'perPacket'> {
  readonly about: string;
}

const parts: Readonly<Record<string, Part>> = {
  udp: { about: 'one message per UDP packet', way: 'udp', perPacket: 1 },
  bundles: { about: 'bundles of ten messages over UDP', way: 'udp', perPacket: 10 },
  tcp: { about: 'one message per packet over TCP with SLIP', way: 'tcp', perPacket: 1 },
};

const parameters = 1000;
const neighbours = 20;
/** UDP may lose packets; more than this share of them is too much. */
const mostLost = 0.001;

export const trial = defineTrial({
  about: 'sends OSC messages at a constant rate over UDP and TCP, beside twenty ordinary clients',
  options: {
    rate: ['the number of messages per second', 50_000, 2000],
    seconds: ['the length of a window, in seconds', 1, 0.5],
    pairs: ['the number of windows that are compared with a window in which another hub has the load', 10, 1],
    p99: ["what the others' p99 may be, in ms", 33, Number.POSITIVE_INFINITY],
  },
  parts: { all: parts, short: ['udp', 'tcp'] },
  async run({ rate, seconds, pairs, p99 }, { parts: chosen }) {
    let failed = 0;
    for (const [name, part] of chosen)
      try {
        notify(`${name}: ${await runPart(part, rate, { pairs, ms: seconds * 1000 }, p99)}: holds`);
      } catch (error) {
        failed++;
        notify(`${name}: **${messageOf(error)}**`);
      }
    return chosen.length > 0 && failed === 0;
  },
});

const ids = Array.from({ length: neighbours }, (_, index) => `neighbour/${index}`);

const flowOf = (way: Part['way'], port: number) => ({
  connections: {
    desk: { type: 'dummy', parameters: ids.map((id) => `${id},F`) },
    it: {
      type: 'osc',
      ...(way === 'udp' ? { listen: port } : { tcpListen: port }),
      parameters: { [`ch/{n:0..${parameters - 1}}`]: { address: '/ch/{n}/level', type: 'I' } },
    },
  },
});

/** Errors: what does not hold. */
async function runPart(
  { way, perPacket }: Part,
  perSecond: number,
  windows: Windows,
  longestMs: number,
): Promise<string> {
  return inTemporaryFolder('osc', async (folder) => {
    const hubs: ServerProcess[] = [];
    const started: TaskProcess[] = [];
    const begin = (program: string, task: object) => {
      const process = startTask(program, task);
      started.push(process);
      return process;
    };
    try {
      const ports = [await freePort(), await freePort()] as const;
      for (const [hub, port] of ports.entries()) {
        const own = join(folder, String(hub));
        await mkdir(own);
        hubs.push(await startHub(flowOf(way, port), own, { hubFolder: thisTree }));
      }
      const sending = begin('spec/trials/osc/sender.ts', {
        ...{ ports, way, perSecond, perPacket, parameters, windows },
      } satisfies SenderTask);
      await sending.answer();
      const watching = begin('spec/support/load/neighbours.ts', {
        ...{ port: hubs[0]!.port, addresses: ids.map((id) => `desk/${id}`), windows },
        ...{ beforeMs: 1000, duringMs: 0 },
      } satisfies NeighboursTask);
      await watching.answer();
      sending.process.send('go');
      watching.process.send('go');
      const [{ p99s }, results] = await Promise.all([
        watching.answer<NeighboursResult>(),
        sending.answer<readonly SenderResult[]>(),
      ]);
      let [packets, lost, wrong] = [0, 0, 0];
      for (const [hub, result] of results.entries()) {
        packets += result.packets;
        wrong += await missingOf(hubs[hub]!, result.last);
        lost += result.packets - (await receivedBy(hubs[hub]!));
      }
      const seconds = (windows.ms * countOf(windows)) / 1000;
      const rate = (packets * perPacket) / seconds;
      const { reached, beside, ratio } = compareWindows(p99s);
      const shown = `${Math.round(rate)} messages/s, ${lost} of ${packets} packets lost, p99 of the others ${reached.toFixed(1)} ms, ${beside.toFixed(1)} ms while another hub has the load, ratio ${ratio.toFixed(2)}`;
      if (rate < perSecond * 0.9) throw new Error(`expected ${perSecond} messages a second, got ${shown}`);
      if (lost > (way === 'udp' ? packets * mostLost : 0))
        throw new Error(`expected no packet to be lost, got ${shown}`);
      if (wrong > lost * perPacket)
        throw new Error(`expected the last values, ${wrong} parameters have others: ${shown}`);
      if (reached > longestMs) throw new Error(`expected a p99 of at most ${longestMs} ms, got ${shown}`);
      return shown;
    } finally {
      await Promise.all(started.map(end));
      await Promise.all(hubs.map((hub) => hub.stop()));
    }
  });
}

/** The number of packets that a hub has received. */
async function receivedBy({ port }: ServerProcess): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/hub/connections`);
  const { connections } = (await answer.json()) as { connections: { id: string; wire?: { framesIn: number } }[] };
  return connections.find(({ id }) => id === 'it')?.wire?.framesIn ?? 0;
}

/** The number of parameters that do not get the last value that was sent. */
async function missingOf({ port }: ServerProcess, last: readonly number[]): Promise<number> {
  let wrong = last.length;
  await becomesSo(
    async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/hub/parameters`);
      const list = (await answer.json()) as { parameter: string; value?: number }[];
      const got = new Map(list.map(({ parameter, value }) => [parameter, value]));
      wrong = last.filter((number, index) => number !== (got.get(`it/ch/${index}`) ?? 0)).length;
      return wrong === 0;
    },
    { deadlineMs: 2000, everyMs: 100 },
  );
  return wrong;
}

async function end({ process: child }: TaskProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
