// Asks a hub for what parameters were, one by one and all at once, and takes the time until the last byte is there.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import JSON5 from 'json5';
import type { History, HistoryList } from '../../lib/wire/http/past/history.ts';
import { thisTree } from '../../spec/support/repository/this-tree.ts';
import { summarize } from '../../spec/support/statistics.ts';
import { startHubOn } from '../../spec/support/system/task-process.ts';

export interface Measured {
  readonly range: string;
  readonly parameters: number;
  readonly how: 'one by one' | 'at once';
  readonly medianMs: number;
  readonly slowestMs: number;
  readonly bytes: number;
}

const ranges = { hour: '-1h', day: '-1d', month: '-30d', year: '-1y' };
const counts = [1, 10, 100, 1000];
/** So many requests are under way, where parameters are asked for one by one. */
const underWay = 16;

/** Errors: when there is no number to ask for, or an answer is not what was asked for. */
export async function askPast(
  folder: string,
  points: number,
  rounds: number,
  tell: (measured: Measured) => void,
): Promise<void> {
  const file = join(folder, 'flow.json5');
  const { connections } = JSON5.parse(await readFile(file, 'utf8'));
  const levels: number = connections.levels?.parameters.length ?? 0;
  if (levels < 1)
    throw new Error('There is no number levels/1 to ask for: prepare the store with --parameters 8 or more');
  const hub = await startHubOn(file, { hubFolder: thisTree, profileFolder: undefined });
  try {
    const ask = (path: string) => fetch(`http://127.0.0.1:${hub.port}/hub/history${path}`).then((one) => one.text());
    await ask('/levels/1'); // the thread is there from the first question on
    for (const [range, from] of Object.entries(ranges))
      for (const count of counts.filter((one) => one <= levels)) {
        const names = Array.from({ length: count }, (_, index) => `levels/${index + 1}`);
        const query = new URLSearchParams({ from, points: String(points) });
        const oneByOne = () => askOneByOne(names, (name) => ask(`/${name}?${query}`));
        const atOnce = () => askAtOnce(names, (after) => ask(`?filter=^levels/&${query}${after}`));
        tell({ range, parameters: count, how: 'one by one', ...(await take(oneByOne, rounds)) });
        if (count === levels) tell({ range, parameters: count, how: 'at once', ...(await take(atOnce, rounds)) });
      }
  } finally {
    await hub.stop();
  }
}

async function askOneByOne(names: readonly string[], ask: (name: string) => Promise<string>): Promise<number> {
  let bytes = 0;
  const waiting = names.values();
  const work = async () => {
    for (const name of waiting) {
      const text = await ask(name);
      expectHistory(JSON.parse(text), name);
      bytes += text.length;
    }
  };
  await Promise.all(Array.from({ length: underWay }, work));
  return bytes;
}

/** Page by page. */
async function askAtOnce(names: readonly string[], ask: (after: string) => Promise<string>): Promise<number> {
  let bytes = 0;
  let asked = 0;
  for (let after = ''; ; ) {
    const text = await ask(after);
    const { histories, more } = JSON.parse(text) as HistoryList;
    bytes += text.length;
    for (const history of histories) expectHistory(history, names[asked++]!);
    if (more === undefined) break;
    after = `&after=${histories.at(-1)!.address}`;
  }
  if (asked !== names.length) throw new Error(`expected ${names.length} histories, got ${asked}`);
  return bytes;
}

function expectHistory(history: History, name: string): void {
  if (history.address !== name || history.times.length === 0)
    throw new Error(`${name}: expected a history, got ${JSON.stringify(history).slice(0, 200)}`);
}

async function take(
  work: () => Promise<number>,
  rounds: number,
): Promise<Pick<Measured, 'medianMs' | 'slowestMs' | 'bytes'>> {
  const taken: number[] = [];
  let bytes = 0;
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    bytes = await work();
    taken.push(performance.now() - startedAt);
  }
  const { median, most } = summarize(taken);
  return { medianMs: median, slowestMs: most, bytes };
}
