// The log over restarts: nothing that was told is told twice or hidden, and it says that the hub was restarted.

import test from 'ava';
import { isRestart } from '../../../../lib/model/reports/log-entry.ts';
import { eventually } from '../../../support/deadline.ts';
import { noted, readKeptLog } from '../../../support/store/audit.ts';
import { install } from '../../../support/store/store.ts';

const desk = { type: 'dummy', parameters: ['lamp,B,false'] };

const jsonOf = (value: unknown) => JSON.parse(JSON.stringify(value));

test('a client that asks by number across a restart misses no entry and sees none twice', async (t) => {
  const installation = await install(t, { desk });
  const first = await installation.start();
  await eventually(() => readKeptLog(installation).some((message) => message.startsWith('patchbay ')));
  const before = first.log(0, 'info');
  t.true(before.entries.length > 2);
  await first.stop();
  await noted(installation, ({ kind }) => kind === 'stop');
  const second = await installation.start();
  await second.earlierLog();
  const after = second.log(before.next, 'info');
  t.is(after.count, before.count);
  const all = second.log(0, 'info').entries;
  t.deepEqual(jsonOf(all.slice(0, before.entries.length)), jsonOf(before.entries));
  const restart = after.entries.findIndex(isRestart);
  t.regex(after.entries[restart]!.message, /^the hub was restarted: it had ended cleanly at \S+Z$/);
  t.is(after.entries.filter(({ message }) => /^patchbay \S+ started with/.test(message)).length, 1);
  const times = after.entries.map(({ time }) => time);
  t.true(times.length > 3);
  t.deepEqual(times, times.toSorted());
  await second.stop();
  await noted(installation, ({ kind, n }) => kind === 'stop' && n > 2);
  const third = await installation.start();
  await third.earlierLog();
  t.is(third.log(0, 'info').entries.filter(isRestart).length, 2);
});
