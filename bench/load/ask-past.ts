// Requests the history of many parameters from a hub whose store has recorded data, either one request per parameter or a single filtered
// list, and measures the time until the last byte arrives.

import type { History, HistoryList } from '../../lib/wire/http/past-shapes.ts';

/** Requests in flight when parameters are requested one by one. */
const underWay = 16;
const points = '1000';

/** How the histories of `levels/<n>` are requested. */
export type Way = 'one by one' | 'at once';

/** Returns the elapsed milliseconds. Errors: an unexpected answer. */
export async function askPast(port: number, count: number, from: string, way: Way): Promise<number> {
  const ask = (path: string) => fetch(`http://127.0.0.1:${port}/hub/history${path}`).then((one) => one.text());
  const names = Array.from({ length: count }, (_, index) => `levels/${index + 1}`);
  const query = new URLSearchParams({ from, points });
  const startedAt = performance.now();
  if (way === 'one by one') await askOneByOne(names, (name) => ask(`/${name}?${query}`));
  else await askAtOnce(names, (after) => ask(`?filter=^levels/&${query}${after}`));
  return performance.now() - startedAt;
}

async function askOneByOne(names: readonly string[], ask: (name: string) => Promise<string>): Promise<void> {
  const waiting = names.values();
  const work = async () => {
    for (const name of waiting) expectHistory(JSON.parse(await ask(name)), name);
  };
  await Promise.all(Array.from({ length: underWay }, work));
}

/** Pages through the filtered list. */
async function askAtOnce(names: readonly string[], ask: (after: string) => Promise<string>): Promise<void> {
  let asked = 0;
  for (let after = ''; ; ) {
    const { histories, more } = JSON.parse(await ask(after)) as HistoryList;
    for (const history of histories) expectHistory(history, names[asked++]!);
    if (more === undefined) break;
    after = `&after=${histories.at(-1)!.address}`;
  }
  if (asked !== names.length) throw new Error(`expected ${names.length} histories, got ${asked}`);
}

function expectHistory(history: History, name: string): void {
  if (history.address !== name || history.times.length === 0)
    throw new Error(`${name}: expected a history, got ${JSON.stringify(history).slice(0, 200)}`);
}
