// Two accounts of one name, or with one token, are mistakes of the check, also where the token stands elsewhere; no message has it.

import { env } from 'node:process';
import test from 'ava';
import { check } from '../../../../lib/command/check-command.ts';
import { createFolder } from '../../../support/folder.ts';
import { call } from '../../../support/system/process.ts';

env.PATCHBAY_SPEC_TOKEN = 'token-of-somebody';

const name = 'expected a name that no user has, got "root"';
const name64 = 'expected a name of 1 to 64 letters, digits and . _ @ -';
const token = (whose: string) => `expected a unique token; this one also belongs to ${whose}`;
const rows: [settings: string, mistakes: string[]][] = [
  [`username: 'root', users: { root: { read: ['**'] } }`, [`1:43: connections.api.username: ${name}`]],
  [`username: 'Root', users: { root: { token: 'a' }, bob: { token: 'A' } }, token: 'YQ=='`, []],
  [
    `users: { 'a b': { token: 'a' }, ok: { read: 5 } }`,
    [`1:52: connections.api.users["a b"]: ${name64}, got "a b" (string)`],
  ],
  [`users: { toString: { token: 'a' }, ann: {}, bob: {} }, token: ''`, []],
  [
    `users: { ann: { token: 'token-of-somebody' }, bob: { token: 'token-of-somebody' } }`,
    [`1:96: connections.api.users.bob.token: ${token('"ann"')}`],
  ],
  [
    `users: { ann: { token: 'token-of-somebody' }, bob: { token: { env: 'PATCHBAY_SPEC_TOKEN' } } }`,
    [`1:96: connections.api.users.bob.token: ${token('"ann"')}`],
  ],
  [
    `token: { file: 'token.txt' }, users: { ann: { token: { env: 'PATCHBAY_SPEC_TOKEN' } }, bob: { token: { file: 'token.txt' } } }`,
    [
      `1:89: connections.api.users.ann.token: ${token('the connection')}`,
      `1:137: connections.api.users.bob.token: ${token('the connection')}`,
    ],
  ],
  [
    `username: 'root', token: 'token-of-somebody', users: { root: { token: 'token-of-somebody' } }`,
    [`1:43: connections.api.username: ${name}`, `1:106: connections.api.users.root.token: ${token('the connection')}`],
  ],
];
for (const [settings, mistakes] of rows)
  test(`check of { ${settings} }: ${mistakes.length === 0 ? 'no mistake' : mistakes.join('; ')}`, async (t) => {
    const folder = await createFolder(t, {
      'flow.json5': `{ connections: { api: { type: 'rest-api', ${settings} } } }`,
      'token.txt': 'token-of-somebody\n',
    });
    const { status, output, errors } = await call((console) => check([folder], console));
    t.is(status, mistakes.length === 0 ? 0 : 1);
    const reported = errors
      .split('\n')
      .filter((line) => line.includes('expected a name') || line.includes('a unique token'));
    t.deepEqual(
      reported.map((line) => line.slice(line.indexOf('flow.json5:') + 'flow.json5:'.length)),
      mistakes,
    );
    t.false((output + errors).includes('token-of-somebody'));
  });
