// The limits of a REST API connection: the README shows the table of the code, and the settings are what it says.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import test from 'ava';
import { createLimitHits } from '../../../lib/connections/rest-api/limit-hits.ts';
import { LimitError, limitSettings, limits, limitTable, metricOf } from '../../../lib/connections/rest-api/limits.ts';

const readme = resolve(import.meta.dirname, '../../../lib/connections/rest-api/README.md');

const rows = limitTable.map(([name, { default: value, unit, setting, about, told }]) => {
  const set =
    setting === 'fixed'
      ? 'fixed'
      : typeof setting === 'string'
        ? `\`${setting}\``
        : `\`limits.${name}\`, ${setting[0].toLocaleString('en')}..${setting[1].toLocaleString('en')}`;
  return `| ${name} | ${value.toLocaleString('en')} ${unit} | ${set} | \`${metricOf(name)}\` | ${about} | ${told} |`;
});

test('the README of the REST API shows the limits as they are', async (t) => {
  const text = await readFile(readme, 'utf8');
  const shown = text.split('\n').filter((line) => line.includes('patchbay_limit_hits_total'));
  t.deepEqual(shown, rows, `expected these rows:\n${rows.join('\n')}`);
});

test('limits that can be set are settings with their defaults and bounds, and no others are', (t) => {
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

test('a hit is counted and logged with the address of the client, once a second per client and limit', (t) => {
  const { log, lines } = recordLog();
  let now = 0;
  const hits = createLimitHits(log, () => now);
  for (let count = 0; count < 5; count++) hits.add('mistakes', '192.0.2.1');
  hits.addError(new LimitError('bodyBytes', 'body-too-large', 'too large'), '192.0.2.1');
  hits.addError(new Error('of another kind'), '192.0.2.1');
  now = 1000;
  hits.add('mistakes', '192.0.2.1');
  t.like(hits.counts, { mistakes: 6, bodyBytes: 1, clients: 0 });
  t.deepEqual(
    lines.map(({ level, message }) => `${level}: ${message}`),
    [
      `warn: client 192.0.2.1 went past the limit mistakes (${limits.mistakes.about}), and got: ${limits.mistakes.told}`,
      `info: client 192.0.2.1 went past the limit bodyBytes (${limits.bodyBytes.about}), and got: ${limits.bodyBytes.told}`,
      `warn: client 192.0.2.1 went past the limit mistakes (${limits.mistakes.about}), and got: ${limits.mistakes.told}`,
    ],
  );
  t.like(lines.at(-1)!.data, { limit: 'mistakes', client: '192.0.2.1', count: 5 });
});

test('many clients at a limit cause 20 lines a second at the most, and what was left out is told', (t) => {
  const { log, lines } = recordLog();
  let now = 0;
  const hits = createLimitHits(log, () => now);
  for (let client = 0; client < 5000; client++) hits.add('clients', `2001:db8::${client}`);
  t.is(lines.length, 20);
  now = 1000;
  hits.add('clients', '192.0.2.1');
  t.is(lines.length, 21);
  t.like(lines.at(-1)!.data, { untold: 4980 });
  t.is(hits.counts.clients, 5001);
});

function recordLog() {
  const lines: { level: string; data: object; message: string }[] = [];
  const at = (level: string) => (data: object, message: string) => void lines.push({ level, data, message });
  return { lines, log: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } };
}
