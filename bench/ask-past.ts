// node bench/ask-past.ts: how fast a store answers, over HTTP, what 1 to 1,000 parameters were in an hour, a day, a month or a year.
// It asks a hub on the installation that bench/prepare-store.ts has made. Exit status 1 when an answer is wrong.

import { parseArgs } from 'node:util';
import { messageOf } from '../lib/model/error.ts';
import { askPast, type Measured } from './prepare/ask-past.ts';

const usage = `node bench/ask-past.ts --folder <folder> [options]

  --folder <folder>  what bench/prepare-store.ts has made
  --points <n>       how many points each history has (1000)
  --rounds <n>       how often each question is asked (5)
`;

const { values } = parseArgs({
  options: {
    folder: { type: 'string' },
    points: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '5' },
    help: { type: 'boolean' },
  },
});
const tell = (line: string) => void process.stdout.write(`${line}\n`);

try {
  if (values.help || values.folder === undefined) tell(usage);
  else {
    tell('| range | parameters | asked | median | slowest | bytes |\n|---|---:|---|---:|---:|---:|');
    await askPast(values.folder, Number(values.points), Number(values.rounds), (one) => tell(row(one)));
  }
} catch (error) {
  tell(messageOf(error));
  process.exitCode = 1;
}
process.exit();

function row({ range, parameters, how, medianMs, slowestMs, bytes }: Measured): string {
  return `| ${range} | ${parameters} | ${how} | ${medianMs.toFixed(1)} ms | ${slowestMs.toFixed(1)} ms | ${bytes} |`;
}
