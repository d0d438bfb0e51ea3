// Benchmarks as their users run them, small: that they work, with the hub and all that it is held against.

import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test from 'ava';
import { deadlineMs } from '../../spec/support/deadline.ts';
import { createFolder } from '../../spec/support/folder.ts';
import { needs } from '../../spec/support/programs.ts';
import { sampled } from '../../spec/support/random.ts';
import { start } from '../../spec/support/system/process.ts';
import { readXml } from '../../spec/support/xml/saxes.ts';

needs('nats', 'chromium-headless-shell'); // what is left out where they are not there

const root = resolve(import.meta.dirname, '../..');
const limitMs = 5 * deadlineMs;
const allSubjects = ['plain-latency', 'v1-fan-out', 'v1-stalled', 'v1-ingest'];

test('a quick run of subjects: right answers, a table, samples and a chart', async (t) => {
  t.timeout(limitMs);
  const folder = await createFolder(t);
  const isRun = sampled(t, 2);
  const subjects = allSubjects.filter((_, index) => isRun(index));
  const args = [...subjects, '--quick', '--into', folder];
  const bench = start(t, args, { program: join(root, 'bench/run.ts') });
  const { status, output, errors } = await bench.ended(limitMs);
  t.is(status, 0, output + errors);
  const names = [...output.matchAll(/^\*\*(.+)\*\*: /gm)].map(([, name]) => name);
  t.deepEqual(names, subjects);
  t.notRegex(output, /WRONG|NaN/);
  const files = await readdir(folder);
  const read = async (extension: string) =>
    readFile(join(folder, files.find((name) => name.endsWith(extension)) ?? extension), 'utf8');
  t.true((await read('.md')).startsWith(output));
  const { results } = JSON.parse(await read('.json')) as { results: { name: string; cases: unknown[] }[] };
  t.deepEqual(
    results.filter(({ cases }) => cases.length > 0).map(({ name }) => name),
    subjects,
  );
  t.is(readXml(await read('.svg'))[0], 'svg');
});

test('a quick run of one case of a subject has that case alone', async (t) => {
  t.timeout(limitMs);
  const args = ['virtual-core', 'past', '--quick', '--cases', 'at', '--into', await createFolder(t)];
  const { status, output, errors } = await start(t, args, { program: join(root, 'bench/run.ts') }).ended(limitMs);
  t.is(status, 0, output + errors);
  t.regex(output, /4 numbers, a day, at once/);
  t.regex(output, /2 days of a number that the console draws \| milliseconds \| \d/);
  t.deepEqual([output.includes('100 latches'), output.includes('expressions')], [true, false], output);
  t.notRegex(output, /WRONG|NaN/);
});
