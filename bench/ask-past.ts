// node bench/ask-past.ts: how fast a store answers, over HTTP, what 1 to 1,000 parameters were in an hour, a day, a month or a year.
// It asks a hub on the installation that bench/prepare-store.ts has made. Exit status 1 when an answer is wrong.

import { runAnyScript, tell } from '../spec/trials/script.ts';
import { askPast, type Measured } from './ask-past/ask.ts';

const usage = `node bench/ask-past.ts --folder <folder> [options]

  --folder <folder>  what bench/prepare-store.ts has made
  --points <n>       how many points each history has (1000)
  --rounds <n>       how often each question is asked (5)
`;

await runAnyScript({
  usage,
  unless: { points: 1000, rounds: 5 },
  texts: ['folder'],
  async run({ texts: { folder }, numbers: { points, rounds } }) {
    if (folder === undefined) tell(usage);
    else {
      tell('| range | parameters | asked | median | slowest | bytes |\n|---|---:|---|---:|---:|---:|');
      await askPast(folder, points, rounds, (one) => tell(row(one)));
    }
    return 0;
  },
});
process.exit();

function row({ range, parameters, how, medianMs, slowestMs, bytes }: Measured): string {
  return `| ${range} | ${parameters} | ${how} | ${medianMs.toFixed(1)} ms | ${slowestMs.toFixed(1)} ms | ${bytes} |`;
}
