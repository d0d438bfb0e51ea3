// node bench/prepare-store.ts: an installation whose store looks as if its hub had run for days: a flow file, and beside it
// `data/history.db` and `data/audit.db`. For measuring how fast a store answers, and for looking at it in the console.

import { prepareStore } from '../spec/support/past/prepare.ts';
import { runAnyScript, tell } from '../spec/trials/script.ts';

const usage = `node bench/prepare-store.ts --folder <folder> [options]

  --folder <folder>  where flow.json5 and data/ come to be; it is created, its databases are replaced
  --parameters <n>   how many parameters: seven for studio-1, all others numbers, levels/1, levels/2, … (7)
  --days <n>         how long the hub has run, until now (7)
  --every <ms>       how often each number changes (1000)
  --raw <days>       for how many days changes are kept; before that numbers change every 20 s (all)
  --minutes <days>   for how many days minutes are kept; before that numbers change every 10 min (all)
  --port <port>      the port of the REST API in the flow file (17011)
  --seed <n>         what the changes are made of (1)
`;

await runAnyScript({
  usage,
  unless: { parameters: 7, days: 7, every: 1000, raw: Infinity, minutes: Infinity, port: 17_011, seed: 1 },
  texts: ['folder'],
  async run({ texts: { folder }, numbers }) {
    if (folder === undefined) {
      tell(usage);
      return 0;
    }
    const { parameters, days, every: everyMs, raw: rawDays, minutes: minuteDays, port, seed } = numbers;
    const startedAt = performance.now();
    const options = { folder, parameters, days, everyMs, rawDays, minuteDays, port, seed };
    const prepared = prepareStore({ ...options, endMs: Date.now() });
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    tell(`${prepared.changes} changes of ${parameters} parameters in ${seconds} s; ${prepared.kept} of them are kept`);
    tell(`node lib/main.ts run ${prepared.flow}`);
    return 0;
  },
});
