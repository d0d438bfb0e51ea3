// npm run trial -- webhooks: signed deliveries at a fixed rate, each of which the hub forwards, beside dead targets and twenty ordinary
// clients. In every other window a baseline hub has the same load, which shows the effect of the machine on the clients. Exit status 1 if a
// number is missing, duplicated or out of order, or the clients are affected.

import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../lib/model/error.ts';
import { inTemporaryFolder, thisTree } from '../../support/folder.ts';
import type { NeighboursResult, NeighboursTask } from '../../support/load/neighbours.ts';
import { compareWindows, countOf, type Windows } from '../../support/load/windows.ts';
import { freePort } from '../../support/system/port.ts';
import { type ServerProcess, startHub, startTask, type TaskProcess } from '../../support/system/task-process.ts';
import { defineTrial, notify } from '../trial.ts';
import type { ServicesResult, ServicesTask } from './services.ts';

const hooks = 10;
const neighbours = 20;
const secret = 'a secret of the trial';
const numbers = Array.from({ length: hooks }, (_, index) => index);
const ids = Array.from({ length: neighbours }, (_, index) => `neighbour/${index}`);

export const trial = defineTrial({
  about: 'delivers signed webhooks that the hub forwards, beside dead targets and twenty ordinary clients',
  options: {
    rate: ['the number of deliveries per second to each of ten webhooks', 100, 10],
    seconds: ['the length of a window, in seconds', 2, 0.5],
    pairs: ['the number of windows that are compared with a window in which another hub carries the load', 10, 1],
    p99: ["what the others' p99 may be, in ms", 33, Number.POSITIVE_INFINITY],
    share: ['the minimum share of the rate', 0.9, 0.01],
  },
  parts: { all: { webhooks: { about: 'deliveries that the hub forwards' } }, short: ['webhooks'] },
  async run({ rate, seconds, pairs, p99, share }) {
    try {
      notify(`webhooks: ${await runAll(rate, { pairs, ms: seconds * 1000 }, { p99, share })}: holds`);
      return true;
    } catch (error) {
      notify(`webhooks: **${messageOf(error)}**`);
      return false;
    }
  },
});

interface Targets {
  readonly targetPort: number;
  readonly silentPort: number;
  readonly closedPort: number;
}

/** The flow of a hub; `hub` is in the addresses of its targets. */
function flowOf(hub: number, { targetPort, silentPort, closedPort }: Targets) {
  const number = { type: 'I', body: '{value}', secret };
  const ins = numbers.map((index) => [`in-${index}`, { secret, perSecond: 10_000, values: { number: { type: 'I' } } }]);
  const outs = numbers.flatMap((index) => [
    [`live-${index}`, { ...number, url: `http://127.0.0.1:${targetPort}/${hub}/${index}` }],
    [`dead-${index}`, { ...number, url: `http://127.0.0.1:${index % 2 === 0 ? silentPort : closedPort}/${index}` }],
  ]);
  return {
    connections: {
      desk: { type: 'dummy', parameters: ids.map((id) => `${id},F`) },
      hooks: { type: 'webhook', in: Object.fromEntries(ins), out: Object.fromEntries(outs) },
    },
    rules: numbers.map((index) => ({
      from: `hooks/in-${index}/number`,
      to: [`hooks/live-${index}`, `hooks/dead-${index}`],
    })),
  };
}

interface Bounds {
  readonly p99: number;
  readonly share: number;
}

/** Errors: what does not hold. */
async function runAll(perSecond: number, windows: Windows, bounds: Bounds): Promise<string> {
  const targets = { targetPort: await freePort(), silentPort: await freePort(), closedPort: await freePort() };
  return inTemporaryFolder('webhooks', async (folder) => {
    const hubs: ServerProcess[] = [];
    const started: TaskProcess[] = [];
    const begin = (program: string, task: object) => {
      const process = startTask(program, task);
      started.push(process);
      return process;
    };
    try {
      for (const hub of [0, 1]) {
        const own = join(folder, String(hub));
        await mkdir(own);
        hubs.push(await startHub(flowOf(hub, targets), own, { hubFolder: thisTree }));
      }
      const serving = begin('spec/trials/webhooks/services.ts', {
        ...{ ...targets, secret, hooks, perSecond, windows },
        ports: [hubs[0]!.port, hubs[1]!.port],
      } satisfies ServicesTask & { closedPort: number });
      await serving.answer();
      const watching = begin('spec/support/load/neighbours.ts', {
        ...{ port: hubs[0]!.port, addresses: ids.map((id) => `desk/${id}`), windows },
        ...{ beforeMs: 1000, duringMs: 0 },
      } satisfies NeighboursTask);
      await watching.answer();
      serving.process.send('go');
      watching.process.send('go');
      const [{ p99s }, result] = await Promise.all([
        watching.answer<NeighboursResult>(),
        serving.answer<ServicesResult>(),
      ]);
      return judge(result, p99s, perSecond * hooks * (windows.ms / 1000) * countOf(windows), bounds);
    } finally {
      await Promise.all(started.map(end));
      await Promise.all(hubs.map((hub) => hub.stop()));
    }
  });
}

function judge({ hubs, wrong }: ServicesResult, p99s: readonly number[], expected: number, bounds: Bounds): string {
  const total = hubs.flatMap(({ sent }) => sent).reduce((sum, one) => sum + one, 0);
  const compared = compareWindows(p99s);
  const shown = `${total} of ${expected} deliveries passed on, p99 of the others ${compared.reached.toFixed(1)} ms, ${compared.beside.toFixed(1)} ms while another hub has the load, ratio ${compared.ratio.toFixed(2)}`;
  if (wrong.length > 0) throw new Error(`${wrong.join('; ')}: ${shown}`);
  for (const { sent, taken } of hubs)
    for (const [index, got] of taken.entries())
      if (got.length !== sent[index] || got.some((one, place) => one !== place + 1))
        throw new Error(
          `expected 1 to ${sent[index]} in order, got ${got.length} numbers, the last ${got.at(-1)}: ${shown}`,
        );
  if (total < expected * bounds.share) throw new Error(`expected ${expected} deliveries, got ${shown}`);
  if (compared.reached > bounds.p99) throw new Error(`expected a p99 of at most ${bounds.p99} ms, got ${shown}`);
  return shown;
}

async function end({ process: child }: TaskProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
