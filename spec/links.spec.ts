// No link of a README is broken: the file is there, and the heading that it names, in the repository and in the package.

import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import test from 'ava';
import { packedFiles } from './support/repository/package.ts';
import { anchorsOf, linksOf, readmes, readReadme, root } from './support/repository/readme.ts';

for (const readme of readmes)
  test(`${readme}: each of its links leads to what is there, in the package as well`, async (t) => {
    const packed = await packedFiles();
    t.true(packed.has(readme), 'the package has it');
    const links = linksOf(readReadme(readme));
    for (const link of links) {
      if (/^https?:/.test(link)) continue;
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? readme : posix.join(posix.dirname(readme), path);
      t.true(existsSync(join(root, target)) && statSync(join(root, target)).isFile(), `${link}: no such file`);
      t.true(packed.has(target), `${link}: not in the package`);
      if (anchor !== undefined) t.true(anchorsOf(readReadme(target)).has(anchor), `${link}: no such heading`);
    }
  });

test('each README is linked from another one', (t) => {
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

test('what specs and code cite is in spec/README.md, and no file that is not in the repository is cited', (t) => {
  const known = new Set(readReadme('spec/README.md').match(/(?<=^\| )[SD]-\d\d(?= \|)/gm));
  t.true(known.size >= 50);
  for (const file of globSync('{lib,spec,bench,flows}/**/*.{ts,tsx,json5,md}', { cwd: root })) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const [number] of text.matchAll(/\b[SD]-\d\d\b/g)) t.true(known.has(number), `${file} cites ${number}`);
    t.notRegex(text, /\b(spec|design)[.]md\b/, file);
  }
});
