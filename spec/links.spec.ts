// READMEs are linked, and nothing is cited that is not in the repository. That no link is broken is in package.spec.ts.

import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import test from 'ava';
import { linksOf, readmes, readReadme, root } from './support/repository/readme.ts';

test('each README, and each page of docs, is linked from another one', (t) => {
  const linked = new Set(
    readmes.flatMap((readme) =>
      linksOf(readReadme(readme)).map((link) => posix.join(posix.dirname(readme), link.split('#')[0]!)),
    ),
  );
  for (const readme of readmes) t.true(readme === 'README.md' || linked.has(readme), readme);
});

test('each connection type has a README', (t) => {
  for (const folder of globSync('lib/connections/*/', { cwd: root }))
    t.true(existsSync(join(root, folder, 'README.md')), folder);
});

test('the citations of specs and code are in docs/specification.md, and refer only to files of the repository', (t) => {
  const known = new Set(readReadme('docs/specification.md').match(/(?<=^\| )[SD]-\d\d(?= \|)/gm));
  t.true(known.size >= 50);
  for (const file of globSync('{lib,spec,bench,flows,docs}/**/*.{ts,tsx,json5,md}', { cwd: root })) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const [number] of text.matchAll(/\b[SD]-\d\d\b/g)) t.true(known.has(number), `${file} cites ${number}`);
    t.notRegex(text, /\b(spec|design)[.]md\b/, file);
  }
});
