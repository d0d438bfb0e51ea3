// node bench/cuts.ts: damages the database of a store in every way that a disk may, cut at every 4 KiB among them, and starts a hub
// on each. The hub has to start, to have the values or to say that they are lost, and to keep new ones. Exit status 1 otherwise.

import { parseArgs } from 'node:util';
import { messageOf } from '../lib/model/error.ts';
import { prepareCuts } from './cuts/cuts.ts';

const usage = `node bench/cuts.ts [options]

  --parameters <n>  how many values the database has (10000)
  --every <bytes>   at which lengths it is cut (4096)
`;

const { values } = parseArgs({
  options: {
    parameters: { type: 'string', default: '10000' },
    every: { type: 'string', default: '4096' },
    help: { type: 'boolean' },
  },
});
const tell = (line: string) => void process.stdout.write(`${line}\n`);

try {
  if (values.help) tell(usage);
  else process.exitCode = await run(Number(values.parameters), Number(values.every));
} catch (error) {
  tell(messageOf(error));
  process.exitCode = 1;
}

async function run(parameters: number, every: number): Promise<number> {
  const cuts = await prepareCuts(parameters);
  try {
    let failed = 0;
    let slowestMs = 0;
    const lengths = Array.from({ length: Math.ceil(cuts.bytes / every) }, (_, index) => index * every);
    for (const length of lengths) {
      const { mistakes, startMs } = await cuts.cut(length);
      slowestMs = Math.max(slowestMs, startMs);
      if (mistakes.length > 0) failed++;
      for (const mistake of mistakes) tell(`cut at ${length} of ${cuts.bytes} bytes: ${mistake}`);
    }
    tell(`${lengths.length} cuts, ${failed} of them with a mistake; slowest start ${slowestMs.toFixed(0)} ms`);
    return failed === 0 ? 0 : 1;
  } finally {
    await cuts.remove();
  }
}
