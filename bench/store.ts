// node bench/store.ts: what recording costs the clients of a hub. A hub with a store that records everything and one without take the
// same load in turn; twenty other clients measure how long changes take to them. With --minutes one such hub runs on, and memory and
// disk are watched instead. Exit status 1 when a bound is broken.

import { setTimeout as after } from 'node:timers/promises';
import type { Latency, NeighboursResult, NeighboursTask } from '../spec/support/load/neighbours.ts';
import { summarize } from '../spec/support/statistics.ts';
import { startTask } from '../spec/support/system/task-process.ts';
import { residentBytesOf } from '../spec/support/system/used-memory.ts';
import { runAnyScript, tell } from '../spec/trials/script.ts';
import { besideLoad, type Load, type LoadedHub } from './store/stored-hub.ts';

const usage = `node bench/store.ts [options]

  --rounds <n>      how many rounds, each with both hubs (7)
  --seconds <n>     how long each is measured (10)
  --rate <n>        changes per second (20000)
  --parameters <n>  how many parameters are changed (1000)
  --minutes <n>     watches memory and disk for so long instead
  --max-size <size> how much room the store may take (2GB; 16MB with --minutes)
`;

/** The p99 may be so many times that without a store, or so many milliseconds more. */
const mostRatio = 1.1;
const mostMoreMs = 1;
/** The memory of the last quarter of the time may be so many times that of the quarter after the first. */
const mostGrowth = 1.1;
const warmUpMs = 2000;
const lookEveryMs = 1000;

await runAnyScript({
  usage,
  unless: { rounds: 7, seconds: 10, rate: 20_000, parameters: 1000, minutes: 0 },
  texts: ['max-size'],
  async run({ numbers: { rounds, seconds, rate, parameters, minutes }, texts }) {
    const load = { parameters, changesPerSecond: rate, maxSize: texts['max-size'] };
    const isKept = minutes > 0 ? watch(load, minutes) : compare(load, rounds, seconds);
    return (await isKept) ? 0 : 1;
  },
});

/** Whether the hub with a store keeps within the bounds. */
async function compare(load: Load, rounds: number, seconds: number): Promise<boolean> {
  const figures = { with: [] as Latency[], without: [] as Latency[] };
  let isWhole = true;
  for (let round = 0; round < rounds; round++)
    for (const which of round % 2 === 0 ? (['without', 'with'] as const) : (['with', 'without'] as const)) {
      const maxSize = which === 'with' ? (load.maxSize ?? '2GB') : undefined;
      const { latency, mistake } = await measure({ ...load, maxSize }, seconds * 1000);
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

async function measure(load: Load, duringMs: number): Promise<{ latency: Latency; mistake: string | undefined }> {
  const { result: during, recorded } = await besideLoad(load, (loaded) => latencyOf(loaded, duringMs));
  const { rows, gaps } = recorded;
  if (load.maxSize === undefined) return { latency: during, mistake: undefined };
  const least = (load.changesPerSecond * (warmUpMs + duringMs)) / 1000;
  const isWhole = rows >= least && gaps === 0;
  return {
    latency: during,
    mistake: isWhole ? undefined : `expected at least ${least} rows and no gap, got ${rows} and ${gaps}`,
  };
}

/** How long changes take to the other clients. */
async function latencyOf({ hub, others }: LoadedHub, duringMs: number): Promise<Latency> {
  const task: NeighboursTask = { port: hub.port, addresses: others, beforeMs: warmUpMs, duringMs };
  const { process: neighbours, answer } = startTask('spec/support/load/neighbours.ts', task);
  try {
    await answer();
    neighbours.send('go on');
    const { during } = await answer<NeighboursResult>();
    return during;
  } finally {
    if (neighbours.connected) neighbours.disconnect();
  }
}

/** Whether memory stays flat, and the files within their room. */
async function watch({ maxSize = '16MB', ...load }: Load, minutes: number): Promise<boolean> {
  const most = Number.parseFloat(maxSize) * (maxSize.endsWith('GB') ? 1e9 : 1e6);
  const {
    result: { samples, mostBytes },
    recorded: { rows, gaps },
  } = await besideLoad({ ...load, maxSize }, (loaded) => sampleFor(minutes * 60_000, loaded));
  const quarter = Math.floor(samples.length / 4);
  const [early, late] = [samples.slice(quarter, 2 * quarter), samples.slice(-quarter)].map(
    (part) => summarize(part).median,
  );
  tell(
    `memory ${mega(early!)} MB in the second quarter, ${mega(late!)} MB in the last; at most ${mega(mostBytes)} MB on the disk; ${rows} rows are kept, ${gaps} gaps`,
  );
  return late! <= early! * mostGrowth && mostBytes <= most && gaps === 0;
}

/** The memory of the hub each second, and how much room its store took at most. */
async function sampleFor(
  lengthMs: number,
  { hub, bytes }: LoadedHub,
): Promise<{ samples: number[]; mostBytes: number }> {
  const samples: number[] = [];
  let mostBytes = 0;
  const until = performance.now() + lengthMs;
  for (let second = 1; performance.now() < until; second++) {
    await after(lookEveryMs);
    samples.push(residentBytesOf(hub.pid));
    mostBytes = Math.max(mostBytes, await bytes());
    if (second % 30 === 0)
      tell(`${second} s: ${mega(samples.at(-1)!)} MB of memory, at most ${mega(mostBytes)} MB on the disk`);
  }
  return { samples, mostBytes };
}

function mega(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
