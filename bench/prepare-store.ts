// node bench/prepare-store.ts --folder /tmp/week: an installation whose store looks as if its hub had run for days: a flow file, and beside
// it `data/history.db` and `data/audit.db`. For looking at it in the console; the subject `past` measures one.

import { parseArgs } from 'node:util';
import { prepareStore } from '../spec/support/past/prepare.ts';

const options = {
  folder: { type: 'string', default: 'week' },
  parameters: { type: 'string', default: '7' },
  days: { type: 'string', default: '7' },
  every: { type: 'string', default: '1000' },
  raw: { type: 'string', default: 'Infinity' },
  minutes: { type: 'string', default: 'Infinity' },
  port: { type: 'string', default: '17011' },
  seed: { type: 'string', default: '1' },
  help: { type: 'boolean' },
} as const;

const usage = `node bench/prepare-store.ts [options]

  --folder <folder>  where flow.json5 and data/ come to be; it is created, its databases are replaced (week)
  --parameters <n>   how many parameters: seven for studio-1, all others numbers, levels/1, levels/2, … (7)
  --days <n>         how long the hub has run, until now (7)
  --every <ms>       how often each number changes (1000)
  --raw <days>       for how many days changes are kept; before that numbers change every 20 s (all)
  --minutes <days>   for how many days minutes are kept; before that numbers change every 10 min (all)
  --port <port>      the port of the REST API in the flow file (17011)
  --seed <n>         what the changes are made of (1)`;

const { folder, help, ...texts } = parseArgs({ options }).values;
if (help) console.log(usage);
else {
  const number = (name: keyof typeof texts) => Number(texts[name]);
  const kept = { rawDays: number('raw'), minuteDays: number('minutes') };
  const { flow, ...prepared } = prepareStore({
    ...{ folder, ...kept, parameters: number('parameters'), days: number('days'), everyMs: number('every') },
    ...{ port: number('port'), seed: number('seed'), endMs: Date.now() },
  });
  console.log(`${prepared.changes} changes, ${prepared.kept} of them are kept`);
  console.log(`node lib/main.ts run ${flow}`);
}
