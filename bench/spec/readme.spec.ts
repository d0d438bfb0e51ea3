// What the READMEs say of the bench is so: every subject is named, RESULTS.md has the figures of README.md.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { readReadme, root } from '../../spec/support/repository/readme.ts';
import { readXml } from '../../spec/support/xml/saxes.ts';
import { drawFigures } from '../harness/figures.ts';
import { subjects } from '../harness/subjects.ts';

const results = readFileSync(join(root, 'bench/RESULTS.md'), 'utf8');

test('bench/README.md names every subject, and every result is that of a subject', (t) => {
  const readme = readReadme('bench/README.md');
  for (const { name } of subjects) t.true(readme.includes(`| \`${name}\` |`), name);
  const measured = [...results.matchAll(/^## (.*)\n\nMeasured on \d{4}-\d\d-\d\d at `\w+`: /gm)].map(
    ([, name]) => name!,
  );
  t.true(measured.length > 10);
  for (const name of measured)
    t.true(
      subjects.some((subject) => subject.name === name),
      name,
    );
});

test('the figures of README.md are those of bench/RESULTS.md, rounded', (t) => {
  const [, table = ''] = /\n## Speed\n([\s\S]*?)\n## /.exec(readReadme('README.md')) ?? [];
  const figures = [...table.matchAll(/([\d.,]+) ?(M\/s|\/s|ns)/g)];
  t.true(figures.length >= 7);
  const numbers = (results.match(/[\d,.]*\d/g) ?? []).map((text) => Number(text.replaceAll(',', '')));
  for (const [figure, text, unit] of figures) {
    const value = Number(text!.replaceAll(',', '')) * (unit === 'M/s' ? 1e6 : 1);
    t.true(
      numbers.some((number) => Math.abs(number / value - 1) < 0.005),
      figure,
    );
  }
});

test('the chart has a bar for the hub and for each of what it is held against', (t) => {
  const bars = readXml(drawFigures(results)).filter((word) => /^@class=(hub|peer)$/.test(word));
  t.true(bars.filter((bar) => bar.endsWith('hub')).length >= 5);
  t.true(bars.filter((bar) => bar.endsWith('peer')).length >= 5);
});
