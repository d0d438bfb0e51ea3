// node bench/store.ts: what recording costs the clients of a hub. A hub with a store that records everything and one without take the
// same load in turn; twenty other clients measure how long changes take to them. With --minutes one such hub runs on, and memory and
// disk are watched instead. Exit status 1 when a bound is broken.

import { parseArgs } from 'node:util';
import { messageOf } from '../lib/model/error.ts';
import { summarize } from './harness/statistics.ts';
import { residentBytesOf } from './load/used-memory.ts';
import type { Latency, NeighboursResult, NeighboursTask } from './processes/loads/neighbours.ts';
import { type Load, resultOf, startLoad, startLoadedHub } from './store/stored-hub.ts';

const usage = `node bench/store.ts [options]

  --rounds <n>      how many rounds, each with both hubs (7)
  --seconds <n>     how long each is measured (10)
  --rate <n>        changes per second (20000)
  --parameters <n>  how many parameters are changed (1000)
  --minutes <n>     watches memory and disk for so long instead
  --max-size <size> how much room the store may take (2GB; 16MB with --minutes)
`;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '10' },
    rate: { type: 'string', default: '20000' },
    parameters: { type: 'string', default: '1000' },
    minutes: { type: 'string' },
    'max-size': { type: 'string' },
    help: { type: 'boolean' },
  },
});
/** The p99 may be so many times that without a store, or so many milliseconds more. */
const mostRatio = 1.1;
const mostMoreMs = 1;
/** The memory of the last quarter of the time may be so many times that of the quarter after the first. */
const mostGrowth = 1.1;
const warmUpMs = 2000;
const lookEveryMs = 1000;

const tell = (line: string) => void process.stdout.write(`${line}\n`);

try {
  if (values.help) tell(usage);
  else {
    const [parameters, changesPerSecond] = [Number(values.parameters), Number(values.rate)];
    const run = values.minutes === undefined ? compare : watch;
    process.exitCode = (await run({ parameters, changesPerSecond, maxSize: values['max-size'] })) ? 0 : 1;
  }
} catch (error) {
  tell(messageOf(error));
  process.exitCode = 1;
}

/** Whether the hub with a store keeps within the bounds. */
async function compare(load: Load): Promise<boolean> {
  const figures = { with: [] as Latency[], without: [] as Latency[] };
  let isWhole = true;
  for (let round = 0; round < Number(values.rounds); round++)
    for (const which of round % 2 === 0 ? (['without', 'with'] as const) : (['with', 'without'] as const)) {
      const { latency, mistake } = await measure({
        ...load,
        maxSize: which === 'with' ? (load.maxSize ?? '2GB') : undefined,
      });
      figures[which].push(latency);
      if (mistake !== undefined) isWhole = false;
      tell(
        `round ${round + 1}, ${which} a store: p50 ${latency.p50} ms, p99 ${latency.p99} ms${mistake ? `; WRONG: ${mistake}` : ''}`,
      );
    }
  const median = (which: keyof typeof figures) => summarize(figures[which].map(({ p99 }) => p99)).median;
  const [p99, base] = [median('with'), median('without')];
  const most = Math.max(base * mostRatio, base + mostMoreMs);
  tell(`p99 with a store ${p99} ms, without ${base} ms, at most ${most.toFixed(1)} ms`);
  return isWhole && p99 <= most;
}

async function measure(load: Load): Promise<{ latency: Latency; mistake: string | undefined }> {
  const loaded = await startLoadedHub(load);
  const duringMs = Number(values.seconds) * 1000;
  const task: NeighboursTask = { port: loaded.hub.port, addresses: loaded.others, beforeMs: warmUpMs, duringMs };
  const neighbours = startLoad('loads/neighbours', task);
  await resultOf(neighbours);
  neighbours.send('go on');
  const { during } = await resultOf<NeighboursResult>(neighbours);
  neighbours.disconnect();
  const { rows, gaps } = await loaded.end();
  if (load.maxSize === undefined) return { latency: during, mistake: undefined };
  const least = (load.changesPerSecond * (warmUpMs + duringMs)) / 1000;
  const isWhole = rows >= least && gaps === 0;
  return {
    latency: during,
    mistake: isWhole ? undefined : `expected at least ${least} rows and no gap, got ${rows} and ${gaps}`,
  };
}

/** Whether memory stays flat, and the files within their room. */
async function watch({ maxSize = '16MB', ...load }: Load): Promise<boolean> {
  const loaded = await startLoadedHub({ ...load, maxSize });
  const most = Number.parseFloat(maxSize) * (maxSize.endsWith('GB') ? 1e9 : 1e6);
  const samples: number[] = [];
  let mostBytes = 0;
  const until = performance.now() + Number(values.minutes) * 60_000;
  for (let second = 1; performance.now() < until; second++) {
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    samples.push(residentBytesOf(loaded.hub.pid));
    mostBytes = Math.max(mostBytes, await loaded.bytes());
    if (second % 30 === 0)
      tell(`${second} s: ${mega(samples.at(-1)!)} MB of memory, at most ${mega(mostBytes)} MB on the disk`);
  }
  const { rows, gaps } = await loaded.end();
  const quarter = Math.floor(samples.length / 4);
  const [early, late] = [samples.slice(quarter, 2 * quarter), samples.slice(-quarter)].map(
    (part) => summarize(part).median,
  );
  tell(
    `memory ${mega(early!)} MB in the second quarter, ${mega(late!)} MB in the last; at most ${mega(mostBytes)} MB on the disk; ${rows} rows are kept, ${gaps} gaps`,
  );
  return late! <= early! * mostGrowth && mostBytes <= most && gaps === 0;
}

function mega(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
