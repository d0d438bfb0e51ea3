// A process that is busy with much memory for two seconds at least, until it holds all of it, and then lets go of it; from then on it tells what it holds.
// With the argument `steady` it goes on working for a fifth of its time, and makes little that is garbage.

import { setImmediate as turn } from 'node:timers/promises';
import { returnMemoryWhenCalm } from '../../../lib/command/run/run.ts';

const burstMs = 2000;
const kept = 200;
const mebibyte = 1024 * 1024;

returnMemoryWhenCalm();
const endMs = performance.now() + burstMs;
let lists: object[][] = [];
for (let made = 0; made < 2 * kept || performance.now() < endMs; made++) {
  lists.push(Array.from({ length: 10_000 }, (_, index) => ({ index })));
  if (lists.length > kept) lists.shift();
  await turn();
}
lists = [];
const notify = (word: string) => console.log(`${word} ${Math.round(process.memoryUsage.rss() / mebibyte)} MiB`);
notify('burst');
setInterval(notify, 200, 'now');
if (process.argv[2] === 'steady')
  setInterval(() => {
    const endMs = performance.now() + 4;
    while (performance.now() < endMs);
  }, 20);
