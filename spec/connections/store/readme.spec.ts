// The README of store: its flow file does what is said of it, and its queries run.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { eventually } from '../../support/deadline.ts';
import { writer } from '../../support/hub.ts';
import { needs } from '../../support/programs.ts';
import { blocksOf, readReadme } from '../../support/repository/readme.ts';
import { findKept } from '../../support/store/kept.ts';
import { installText } from '../../support/store/store.ts';

needs('sqlite3');

const blocks = blocksOf(readReadme('lib/connections/store/README.md'));

test('the example keeps the lamp, the queries show it, and that of the audit shows who has set it', async (t) => {
  const example = blocks.find(({ language }) => language === 'json5')!.text;
  const installation = await installText(t, example);
  const hub = await installation.start();
  hub.write('desk/lamp', true, writer);
  await hub.stop();
  t.deepEqual((await findKept(installation)).values, { 'desk/lamp': true });
  const run = (query: string) => execFileSync('/bin/sh', ['-c', query], { cwd: installation.folder, encoding: 'utf8' });
  const queries = blocks
    .find(({ language, text }) => language === 'sh' && text.includes('under_way'))!
    .text.trim()
    .split('\n');
  t.is(queries.length, 3);
  const [newest, on, underWay] = queries.map(run);
  t.regex(newest!, /^desk\/lamp\|1\|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\n$/);
  t.is(on, 'desk/lamp|client|spec\n');
  t.is(underWay, '');
  const audit = blocks.find(({ language, text }) => language === 'sh' && text.includes('audit.db'))!.text.trim();
  // on a busy machine, the audit is written after the two seconds that a hub has to end
  await eventually(() => existsSync(join(installation.folder, 'data', 'audit.db')) && run(audit) !== '');
  t.regex(run(audit), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\|spec\|desk\/lamp\|0\|1\n$/);
});

test('the example of snapshots recalls in listed order, and the query shows the saved values', async (t) => {
  const ofSnapshots = (language: string) =>
    blocks.find((block) => block.language === language && block.text.includes('studio-1'))!;
  const [example, query] = [ofSnapshots('json5'), ofSnapshots('sh')];
  const { start, folder } = await installText(t, example.text);
  const hub = await start();
  hub.write('s1/fader', 0.5, writer);
  hub.write('store/studio-1/save', 'evening', writer);
  hub.turn(() => ['s1/fader', 's1/router'].map((address) => hub.write(address, 7, writer)));
  const written: string[] = [];
  hub.changes$.subscribe({ next: ({ parameter }) => written.push(parameter.address) });
  hub.write('store/studio-1/recall', 'evening', writer);
  t.deepEqual(written.slice(1, 3), ['s1/router', 's1/fader']);
  await hub.stop();
  t.is(execFileSync('/bin/sh', ['-c', query.text], { cwd: folder, encoding: 'utf8' }), 's1/router|1\ns1/fader|0.5\n');
});

test('the example of the history records by its first matching entry, and the query shows the author', async (t) => {
  const ofHistory = (language: string, word: string) =>
    blocks.find((block) => block.language === language && block.text.includes(word))!;
  const [example, query] = [ofHistory('json5', 'deadband'), ofHistory('sh', 'FROM event')];
  const desk = `$1\n    desk: { type: 'dummy', parameters: ['lamp,B', 'level,F'] },`;
  const { start, folder, closed } = await installText(t, example.text.replace(/(connections: \{)/, desk));
  const hub = await start();
  await eventually(() => existsSync(join(folder, 'data', 'history.db-wal')));
  hub.write('desk/lamp', true, writer);
  await hub.stop();
  await closed();
  t.regex(
    execFileSync('/bin/sh', ['-c', query.text], { cwd: folder, encoding: 'utf8' }),
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\|1\|client spec\|client spec\n$/,
  );
});
