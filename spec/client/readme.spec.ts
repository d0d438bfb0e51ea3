// The page that lib/client/README.md shows is short, and the table there names what there is; spec/readme.spec.ts runs the program.

import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test from 'ava';

const folder = resolve(import.meta.dirname, '../../lib/client');
const readme = await readFile(join(folder, 'README.md'), 'utf8');

test('the page is ten lines and what the table names is there', async (t) => {
  const [, page] = /```html\n([\s\S]*?)```/.exec(readme)!;
  t.true(page!.trimEnd().split('\n').length <= 10);
  const { connect } = await import('../../lib/client/index.ts');
  const client = connect('http://127.0.0.1:1');
  t.teardown(() => client.close());
  for (const [, name] of readme.matchAll(/\bhub\.(\w+\$?)/g)) t.true(name! in client, name);
});
