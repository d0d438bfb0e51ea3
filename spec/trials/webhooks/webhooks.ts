// npm run trial -- webhooks: signed deliveries at a rate, each of which the hub passes on, beside targets that are dead and twenty ordinary
// clients. Exit status 1 when a number is missing, comes twice or out of order, or the others notice.

import { once } from 'node:events';
import { messageOf } from '../../../lib/model/error.ts';
import { inTemporaryFolder, thisTree } from '../../support/folder.ts';
import type { NeighboursResult, NeighboursTask } from '../../support/load/neighbours.ts';
import { freePort } from '../../support/system/port.ts';
import { startHub, startTask, type TaskProcess } from '../../support/system/task-process.ts';
import { defineTrial, notify } from '../trial.ts';
import type { ServicesResult, ServicesTask } from './services.ts';

const hooks = 10;
const neighbours = 20;
const secret = 'a secret of the trial';

export const trial = defineTrial({
  about: 'delivers signed webhooks that the hub passes on, beside dead targets and twenty ordinary clients',
  options: {
    rate: ['deliveries a second to each of ten webhooks', 100, 10],
    seconds: ['how long they are delivered', 10, 1],
    ratio: ["what the others' p99 may be of what it was before", 1.2, 100],
  },
  parts: { all: { webhooks: { about: 'deliveries that the hub passes on' } }, short: ['webhooks'] },
  async run({ rate, seconds, ratio }) {
    try {
      notify(`webhooks: ${await runAll(rate, seconds, ratio)}: holds`);
      return true;
    } catch (error) {
      notify(`webhooks: **${messageOf(error)}**`);
      return false;
    }
  },
});

/** Errors: what does not hold. */
async function runAll(perSecond: number, seconds: number, ratio: number): Promise<string> {
  const [targetPort, silentPort, closedPort] = [await freePort(), await freePort(), await freePort()];
  const ids = Array.from({ length: neighbours }, (_, index) => `neighbour/${index}`);
  const numbers = Array.from({ length: hooks }, (_, index) => index);
  const number = { type: 'I', body: '{value}', secret };
  const flow = {
    connections: {
      desk: { type: 'dummy', parameters: ids.map((id) => `${id},F`) },
      hooks: {
        type: 'webhook',
        in: Object.fromEntries(
          numbers.map((index) => [`in-${index}`, { secret, perSecond: 10_000, values: { number: { type: 'I' } } }]),
        ),
        out: Object.fromEntries(
          numbers.flatMap((index) => [
            [`live-${index}`, { ...number, url: `http://127.0.0.1:${targetPort}/${index}` }],
            [
              `dead-${index}`,
              { ...number, url: `http://127.0.0.1:${index % 2 === 0 ? silentPort : closedPort}/${index}` },
            ],
          ]),
        ),
      },
    },
    rules: numbers.map((index) => ({
      from: `hooks/in-${index}/number`,
      to: [`hooks/live-${index}`, `hooks/dead-${index}`],
    })),
  };
  return inTemporaryFolder('webhooks', async (folder) => {
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
      const serving = begin('spec/trials/webhooks/services.ts', {
        ...{ port: hub.port, secret, targetPort, silentPort, hooks, perSecond, ms: seconds * 1000 },
      } satisfies ServicesTask);
      watching.process.send('go');
      const [{ before, during }, { sent, taken, wrong }] = await Promise.all([
        watching.answer<NeighboursResult>(),
        serving.answer<ServicesResult>(),
      ]);
      const total = sent.reduce((sum, one) => sum + one, 0);
      const shown = `${Math.round(total / seconds)} deliveries/s passed on, p99 ${before.p99.toFixed(1)} ms before, ${during.p99.toFixed(1)} ms during`;
      if (wrong.length > 0) throw new Error(`${wrong.join('; ')}: ${shown}`);
      for (const [index, got] of taken.entries())
        if (got.length !== sent[index] || got.some((one, place) => one !== place + 1))
          throw new Error(
            `expected 1 to ${sent[index]} in order, got ${got.length} numbers, the last ${got.at(-1)}: ${shown}`,
          );
      if (total < perSecond * hooks * seconds * 0.9)
        throw new Error(`expected ${perSecond * hooks} a second, got ${shown}`);
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
