// A client that is written from the protocol's README alone, cut at random and resumed, short. `npm run trial -- resume` cuts it 300
// times, and has ten times as many parameters.

import { resolve } from 'node:path';
import test from 'ava';
import { start } from '../support/system/process.ts';

for (const client of ['careful', 'naive'])
  test(`lib/client/README.md: a ${client} client is cut at random: every revision that it keeps holds, and each resume brings every value`, async (t) => {
    const program = resolve(import.meta.dirname, 'resume.ts');
    const args = ['--cuts', '4', '--large', '2000', '--seed', '5', '--client', client, '--quick'];
    const { status, output, errors } = await start(t, args, { program }).ended(110_000);
    t.is(status, 0, output + errors);
    t.regex(output, /^seed 5: 4 resumes, \d+ of them cut again before their end, \d+ writes: no value was missing$/m);
  });
