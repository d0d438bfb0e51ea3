// npm run trial -- osc: OSC messages at a rate, over UDP and TCP, beside twenty ordinary clients. Exit status 1 when a message is missing,
// or the others notice.

import { once } from 'node:events';
import { messageOf } from '../../../lib/model/error.ts';
import { becomesSo } from '../../support/deadline.ts';
import { inTemporaryFolder, thisTree } from '../../support/folder.ts';
import type { NeighboursResult, NeighboursTask } from '../../support/load/neighbours.ts';
import { freePort } from '../../support/system/port.ts';
import { startHub, startTask, type TaskProcess } from '../../support/system/task-process.ts';
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
    seconds: ['how long they are sent, in seconds', 10, 1],
    ratio: ["what the others' p99 may be of what it was before", 1.2, 100],
  },
  parts: { all: parts, short: ['udp', 'tcp'] },
  async run({ rate, seconds, ratio }, { parts: chosen }) {
    let failed = 0;
    for (const [name, part] of chosen)
      try {
        notify(`${name}: ${await runPart(part, rate, seconds, ratio)}: holds`);
      } catch (error) {
        failed++;
        notify(`${name}: **${messageOf(error)}**`);
      }
    return chosen.length > 0 && failed === 0;
  },
});

/** Errors: what does not hold. */
async function runPart({ way, perPacket }: Part, perSecond: number, seconds: number, ratio: number): Promise<string> {
  const oscPort = await freePort();
  const ids = Array.from({ length: neighbours }, (_, index) => `neighbour/${index}`);
  const flow = {
    connections: {
      desk: { type: 'dummy', parameters: ids.map((id) => `${id},F`) },
      it: {
        type: 'osc',
        ...(way === 'udp' ? { listen: oscPort } : { tcpListen: oscPort }),
        parameters: { [`ch/{n:0..${parameters - 1}}`]: { address: '/ch/{n}/level', type: 'I' } },
      },
    },
  };
  return inTemporaryFolder('osc', async (folder) => {
    const hub = await startHub(flow, folder, { hubFolder: thisTree });
    const started: TaskProcess[] = [];
    const begin = (program: string, task: object) => {
      const process = startTask(program, task);
      started.push(process);
      return process;
    };
    try {
      const addresses = ids.map((id) => `desk/${id}`);
      const durations = { beforeMs: Math.max(seconds, 2) * 1000, duringMs: seconds * 1000 };
      const watching = begin('spec/support/load/neighbours.ts', {
        port: hub.port,
        addresses,
        ...durations,
      } satisfies NeighboursTask);
      await watching.answer();
      const task: SenderTask = { port: oscPort, way, perSecond, perPacket, parameters, ms: seconds * 1000 };
      const sending = begin('spec/trials/osc/sender.ts', task);
      watching.process.send('go');
      const [{ before, during }, { sent, last }] = await Promise.all([
        watching.answer<NeighboursResult>(),
        sending.answer<SenderResult>(),
      ]);
      const values = async () => {
        const answer = await fetch(`http://127.0.0.1:${hub.port}/hub/parameters`);
        const list = (await answer.json()) as { parameter: string; value?: number }[];
        return new Map(list.map(({ parameter, value }) => [parameter, value]));
      };
      const missing = async () => {
        const got = await values();
        return last.filter((number, index) => number !== (got.get(`it/ch/${index}`) ?? 0)).length;
      };
      let wrong = parameters;
      await becomesSo(
        async () => {
          wrong = await missing();
          return wrong === 0;
        },
        { deadlineMs: 2000, everyMs: 100 },
      );
      const packets = sent / perPacket;
      const connections = await fetch(`http://127.0.0.1:${hub.port}/hub/connections`);
      const list = ((await connections.json()) as { connections: { id: string; wire?: { framesIn: number } }[] })
        .connections;
      const lost = packets - (list.find(({ id }) => id === 'it')?.wire?.framesIn ?? 0);
      const rate = sent / seconds;
      const shown = `${Math.round(rate)} messages/s, ${lost} of ${packets} packets lost, p99 ${before.p99.toFixed(1)} ms before, ${during.p99.toFixed(1)} ms during`;
      if (rate < perSecond * 0.9) throw new Error(`expected ${perSecond} messages a second, got ${shown}`);
      if (lost > (way === 'udp' ? packets * mostLost : 0))
        throw new Error(`expected no packet to be lost, got ${shown}`);
      if (wrong > lost * perPacket)
        throw new Error(`expected the last values, ${wrong} parameters have others: ${shown}`);
      if (during.p99 > before.p99 * ratio)
        throw new Error(`expected at most ${ratio} times the p99 of before, got ${shown}`);
      return shown;
    } finally {
      await Promise.all(started.map(end));
      await hub.stop();
    }
  });
}

async function end({ process: child }: TaskProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
