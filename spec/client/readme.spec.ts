// What docs/client.md names is there; spec/readme.spec.ts runs its program, spec/readme-pages.spec.ts its page.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import test from 'ava';

const readme = await readFile(resolve(import.meta.dirname, '../../docs/client.md'), 'utf8');

test('a hub has each member that docs/client.md names', async (t) => {
  const { connect } = await import('../../lib/client/index.ts');
  const client = connect('http://127.0.0.1:1');
  t.teardown(() => client.close());
  const names = [...readme.matchAll(/\bhub\.(\w+\$?)/g)].map(([, name]) => name!);
  t.true(names.length > 5);
  for (const name of names) t.true(name in client, name);
});
