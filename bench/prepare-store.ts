// node bench/prepare-store.ts: an installation whose store looks as if its hub had run for days: a flow file, and beside it
// `data/history.db` and `data/audit.db`. For measuring how fast a store answers, and for looking at it in the console.

import { parseArgs } from 'node:util';
import { messageOf } from '../lib/model/error.ts';
import { prepareStore } from './prepare/prepare.ts';

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

const { values } = parseArgs({
  options: {
    folder: { type: 'string' },
    parameters: { type: 'string', default: '7' },
    days: { type: 'string', default: '7' },
    every: { type: 'string', default: '1000' },
    raw: { type: 'string', default: 'Infinity' },
    minutes: { type: 'string', default: 'Infinity' },
    port: { type: 'string', default: '17011' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean' },
  },
});
const tell = (line: string) => void process.stdout.write(`${line}\n`);

try {
  if (values.help || values.folder === undefined) tell(usage);
  else {
    const { folder, parameters, days, every, raw, minutes, port, seed } = values;
    const startedAt = performance.now();
    const prepared = await prepareStore({
      folder,
      parameters: Number(parameters),
      days: Number(days),
      everyMs: Number(every),
      rawDays: Number(raw),
      minuteDays: Number(minutes),
      port: Number(port),
      seed: Number(seed),
      endMs: Date.now(),
    });
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    tell(`${prepared.changes} changes of ${parameters} parameters in ${seconds} s; ${prepared.kept} of them are kept`);
    tell(`node lib/main.ts run ${prepared.flow}`);
  }
} catch (error) {
  tell(messageOf(error));
  process.exitCode = 1;
}
