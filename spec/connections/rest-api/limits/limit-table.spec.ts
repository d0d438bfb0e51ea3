// The limits of a REST API connection: the README shows the table of the code, and the settings are what it says.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import test from 'ava';
import { limitTable, metricOf } from '../../../../lib/connections/rest-api/limits/client-limits.ts';
import { createLimitHits, LimitError } from '../../../../lib/connections/rest-api/limits/limit-hits.ts';
import { limitSettings } from '../../../../lib/connections/rest-api/limits/limit-settings.ts';
import { Journal } from '../../../../lib/hub/journal.ts';
import { createLogRecorder } from '../../../support/connection.ts';

const readme = resolve(import.meta.dirname, '../../../../docs/limits.md');

const rows = limitTable.map(([name, { default: value, unit, setting, about, answer, isSeen }]) => {
  const set =
    setting === 'fixed'
      ? 'fixed'
      : typeof setting === 'string'
        ? `\`${setting}\``
        : `\`limits.${name}\`, ${setting[0].toLocaleString('en')}..${setting[1].toLocaleString('en')}`;
  const metric = isSeen === false ? 'none' : `\`${metricOf(name)}\``;
  return `| ${name} | ${value.toLocaleString('en')} ${unit} | ${set} | ${metric} | ${about} | ${answer} |`;
});

test('the README of the REST API shows the current limits', async (t) => {
  const text = await readFile(readme, 'utf8');
  const shown = text.split('| limit | default |')[1]!.split('\n\n')[0]!.split('\n').slice(2);
  t.deepEqual(shown, rows, `expected these rows:\n${rows.join('\n')}`);
});

test('exactly the configurable limits are settings, with their defaults and bounds', (t) => {
  const settable = limitTable.flatMap(([name, { default: value, setting }]) =>
    typeof setting === 'string' ? [] : [{ name, value, setting }],
  );
  t.deepEqual(limitSettings.parse(undefined), Object.fromEntries(settable.map(({ name, value }) => [name, value])));
  for (const { name, setting } of settable) {
    for (const bound of setting) t.like(limitSettings.parse({ [name]: bound }), { [name]: bound });
    for (const wrong of [setting[0] - 1, setting[1] + 1, 1.5, '1'])
      t.throws(() => limitSettings.parse({ [name]: wrong }));
  }
  t.throws(() => limitSettings.parse({ messageBytes: 1 }), { message: /messageBytes/ });
});

test('a hit is counted and logged with the address of the client, once a second per client and limit', async (t) => {
  const recorder = createLogRecorder();
  const hits = createLimitHits(Journal.of(recorder));
  for (let hit = 0; hit < 5; hit++) hits.add('mistakes', '192.0.2.1');
  hits.addError(new LimitError('bodyBytes', 'body-too-large', 'body'), '192.0.2.1');
  hits.addError(new Error('no limit'), '192.0.2.1');
  t.like(hits.counts, { mistakes: 5, bodyBytes: 1, clients: 0 });
  const mistakes = 'client 192.0.2.1 exceeded the limit mistakes (consecutive invalid messages of a v1 client)';
  t.deepEqual(
    recorder.lines.map(({ level, message }) => `${level}: ${message}`),
    [
      `warn: ${mistakes}: close code 4500`,
      'info: client 192.0.2.1 exceeded the limit bodyBytes (the size of a request body): 413; the connection stays open',
    ],
  );
  t.false('headMs' in hits.counts, 'nobody sees it');
  t.is(await recorder.logged(/times/), `${mistakes}: close code 4500 (4 times within a second)`);
});

test('many clients at a limit cause at most a hundred log lines a second, and omitted lines are reported', async (t) => {
  const recorder = createLogRecorder();
  const hits = createLimitHits(Journal.of(recorder));
  for (let client = 0; client < 5000; client++) hits.add('clients', `2001:db8::${client.toString(16)}`);
  t.is(recorder.lines.length, 100);
  t.is(await recorder.logged(/more entries/), 'dropped 4,900 more entries: too many different messages');
  t.is(hits.counts.clients, 5000);
});
