// The README of the bench: its chart, its subjects, and the figures that README.md has of it.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { readReadme, root } from '../../spec/support/repository/readme.ts';
import { drawFigures } from '../figures.ts';
import { subjects } from '../harness/subjects.ts';

/** The names in backticks in the first cells of all tables of a text. */
const rowsOf = (text: string) =>
  [...text.matchAll(/^\| ((?:[^|\\]|\\\|)*) \|/gm)].flatMap(([, cell]) =>
    [...cell!.matchAll(/`([^`]*)`/g)].map(([, name]) => name!),
  );

test('bench/README.md shows the chart of its table', async (t) => {
  const chart = await readFile(join(root, 'bench/figures.svg'), 'utf8');
  t.is(chart, drawFigures(readReadme('bench/README.md')), 'node bench/figures.ts draws it again');
  t.true((chart.match(/<rect/g) ?? []).length >= 10);
});

test('bench/README.md names every subject', (t) => {
  const rows = rowsOf(readReadme('bench/README.md'));
  for (const { name } of subjects) t.true(rows.includes(name), name);
});

test('README.md has figures of bench/README.md', (t) => {
  const [, table = ''] = /\n## Speed\n([\s\S]*?)\n## /.exec(readReadme('README.md')) ?? [];
  const figures = table.match(/[\d.,]+ ?(?:M\/s|\/s|ns)/g) ?? [];
  t.true(figures.length >= 7);
  const all = readReadme('bench/README.md');
  for (const figure of figures) t.true(all.includes(figure), figure);
});
