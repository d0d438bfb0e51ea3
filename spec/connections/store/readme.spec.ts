// The README of store: its flow file does what is said of it, and its queries run.

import { execFileSync } from 'node:child_process';
import test from 'ava';
import { writer } from '../../support/hub.ts';
import { needs } from '../../support/programs.ts';
import { blocksOf, readReadme } from '../../support/readme.ts';
import { installText } from '../../support/store.ts';

needs('sqlite3');

const blocks = blocksOf(readReadme('lib/connections/store/README.md'));

test('the example keeps the lamp, and the queries show it', async (t) => {
  const { start, folder } = await installText(t, blocks.find(({ language }) => language === 'json5')!.text);
  const before = await start();
  before.write('desk/lamp', true, writer);
  await before.stop();
  const hub = await start();
  t.true(hub.find('desk/lamp')!.value as boolean);
  const queries = blocks
    .find(({ language }) => language === 'sh')!
    .text.trim()
    .split('\n');
  t.is(queries.length, 3);
  const [newest, on, underWay] = queries.map((query) =>
    execFileSync('/bin/sh', ['-c', query], { cwd: folder, encoding: 'utf8' }),
  );
  t.regex(newest!, /^desk\/lamp\|1\|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n$/);
  t.is(on, 'desk/lamp\n');
  t.is(underWay, '');
});
