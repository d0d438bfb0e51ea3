// The short form of `npm run trial -- backup`: a hub that is backed up while it changes is restored as it was at one moment.

import { once } from 'node:events';
import { join } from 'node:path';
import test from 'ava';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { checkMoment, writeFlow } from './backups/flow.ts';
import { startLoad } from './backups/load.ts';
import { backUpOnce } from './backups/round.ts';
import { startKilledHub } from './kills/killed-hub.ts';

const pairs = 20;

test('a backup of a hub that changes is restored as one moment of what was written', async (t) => {
  t.timeout(240_000);
  const folder = await createFolder(t);
  await writeFlow(join(folder, 'source'), pairs);
  const hub = await startKilledHub(join(folder, 'source'), true);
  t.teardown(async () => {
    hub.process.kill();
    await once(hub.process, 'exit');
  });
  const load = await startLoad(hub.port, pairs, 300);
  t.teardown(() => load.stop());
  await eventually(() => load.toldBefore(500) >= 2 * pairs);
  const { mistakes } = await backUpOnce({ port: hub.port, load, pairs, folder: join(folder, 'one'), isQuick: true });
  t.deepEqual(mistakes, []);
});

test('what is not one moment is found', (t) => {
  const values = new Map<string, number>([['desk/last', 4]]);
  for (const number of [2, 3, 4]) for (const side of ['a', 'b']) values.set(`desk/${side}${number % 3}`, number);
  t.deepEqual(checkMoment(values, 3, 0, 4), []);
  t.is(checkMoment(new Map(values).set('desk/b0', 0), 3, 0, 4).length, 1);
  t.is(checkMoment(values, 3, 5, 9).length, 1);
});
