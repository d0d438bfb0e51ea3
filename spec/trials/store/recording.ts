// npm run trial -- recording: a hub whose store records every change of an even load, for a given duration. Its memory must stay flat, and
// its files within their size limits.

import { setTimeout as after } from 'node:timers/promises';
import { thisTree } from '../../support/folder.ts';
import { besideLoad, type LoadedHub } from '../../support/load/stored-hub.ts';
import { summarize } from '../../support/statistics.ts';
import { residentBytesOf } from '../../support/system/used-memory.ts';
import { defineTrial, notify } from '../trial.ts';

/** The memory of the last quarter of the time may be so many times that of the quarter after the first. */
const mostGrowth = 1.1;
/** In a short time memory still grows to what it needs. */
const mostShortGrowth = 2;

const options = {
  minutes: ['how long the trial runs, in minutes', 10, 0.1],
  rate: ['the number of changes per second', 20_000, 1000],
  parameters: ['the number of parameters that change', 1000, 50],
  megabytes: ['the maximum size of the store, in megabytes', 16],
} as const;

export const trial = defineTrial({
  about: 'records every change under load: memory stays flat, and the files of the store stay within their limit',
  options,
  async run({ minutes, rate, parameters, megabytes }, { isShort }) {
    const load = { hubFolder: thisTree, parameters, changesPerSecond: rate, maxSize: `${megabytes}MB` };
    const { result, recorded } = await besideLoad(load, (loaded) => sampleFor(minutes * 60_000, loaded));
    const { samples, mostBytes } = result;
    const quarter = Math.floor(samples.length / 4);
    const [early, late] = [samples.slice(quarter, 2 * quarter), samples.slice(-quarter)].map(
      (part) => summarize(part).median,
    ) as [number, number];
    notify(
      `memory ${mega(early)} MB in the second quarter, ${mega(late)} MB in the last; at most ${mega(mostBytes)} MB on the disk; ${recorded.rows} rows are kept, ${recorded.gaps} gaps`,
    );
    const mistakes = [
      ...(late <= early * (isShort ? mostShortGrowth : mostGrowth) ? [] : ['the memory has grown']),
      ...(mostBytes <= megabytes * 1e6 ? [] : [`expected at most ${megabytes} MB on the disk`]),
      ...(recorded.gaps === 0 && recorded.rows > 0 ? [] : ['expected rows and no gap']),
    ];
    for (const mistake of mistakes) notify(mistake);
    return mistakes.length === 0;
  },
});

/** The memory of the hub, sampled repeatedly, and the maximum size of its store. */
async function sampleFor(
  lengthMs: number,
  { hub, bytes }: LoadedHub,
): Promise<{ samples: number[]; mostBytes: number }> {
  const everyMs = Math.min(1000, lengthMs / 20);
  const samples: number[] = [];
  let mostBytes = 0;
  for (const until = performance.now() + lengthMs; performance.now() < until; ) {
    await after(everyMs);
    samples.push(residentBytesOf(hub.pid));
    mostBytes = Math.max(mostBytes, await bytes());
    if (samples.length % 30 === 0)
      notify(`${samples.length}: ${mega(samples.at(-1)!)} MB of memory, at most ${mega(mostBytes)} MB on the disk`);
  }
  return { samples, mostBytes };
}

function mega(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
