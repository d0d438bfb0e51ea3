// The pictures of the README are there, small, shown, and of the present look.

import { readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import test from 'ava';
import { digestOfLook, screenshots } from './support/repository/look.ts';
import { linksOf, readReadme, root } from './support/repository/readme.ts';

for (const name of ['console.png', 'dashboard.png'])
  test(`${name} is a picture of at most 200 kB, and the README shows it`, (t) => {
    const path = join(screenshots, name);
    t.is(readFileSync(path).toString('latin1', 1, 4), 'PNG');
    t.true(statSync(path).size <= 200_000);
    t.true(linksOf(readReadme('README.md')).includes(relative(root, path)));
  });

test('the pictures are of the present style sheets; else npm run screenshots takes them again', (t) => {
  t.is(readFileSync(join(screenshots, 'look.sha256'), 'utf8').trim(), digestOfLook());
});
