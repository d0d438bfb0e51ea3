// Texts of settings from the environment and from files: the connection gets them, and nobody else sees them.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { env } from 'node:process';
import test from 'ava';
import { loadFlows } from '../../../../lib/hub/index.ts';
import { createFolder } from '../../../support/folder.ts';
import { api } from '../../../support/hub.ts';
import { startReloading } from '../../../support/reload.ts';

env.PATCHBAY_SPEC_NAME = 'olivia-from-env';
env.PATCHBAY_SPEC_EMPTY = '';

const basic = (password: string) => ({
  headers: { authorization: `Basic ${Buffer.from(`olivia-from-env:${password}`).toString('base64')}` },
});
const desk = { type: 'dummy', parameters: ['a', 'b'] };

test('a password from a file and a name from the environment work, saving the file restarts the connection, and nobody sees them', async (t) => {
  const settings = { ...api, username: { env: 'PATCHBAY_SPEC_NAME' }, password: { file: 'password.txt' } };
  const { hub, folder, save, lines } = await startReloading(t, {
    'password.txt': 'pass-one\n',
    'flow.json5': {
      connections: {
        api: { ...settings, description: { env: 'PATCHBAY_SPEC_NAME' } },
        desk,
        page: { type: 'xml-file-output', filename: { file: 'password.txt' }, template: 'x', enabled: false },
      },
      rules: [{ from: 'desk/a', to: 'desk/b' }],
    },
  });
  const read = async (path: string, password: string) => {
    const answer = await fetch(`http://127.0.0.1:${hub.port}${path}`, basic(password));
    return { status: answer.status, text: await answer.text() };
  };
  hub.write('desk/a', 'x', { kind: 'client', name: 'spec' });
  t.is((await read('/hub/files', 'pass-two')).status, 401);
  const answers = [
    'connections',
    'rules',
    'files',
    'log',
    'health',
    'parameters',
    'clients',
    'explain?parameter=desk/b',
  ];
  const texts = await Promise.all(answers.map(async (path) => (await read(`/hub/${path}`, 'pass-one')).text));
  await save('password.txt', 'pass-two\r\n');
  t.deepEqual((await hub.reload()).connections.changed, ['api', 'page']);
  await writeFile(join(folder, 'password.txt'), 'pass-two');
  t.deepEqual((await hub.reload()).connections.changed, [], 'only the line break is another');
  const all = [...texts, JSON.stringify(lines)].join('\n');
  t.true(texts[0]!.includes('"description":"***"'), texts[0]);
  for (const secret of ['pass-one', 'pass-two', 'olivia-from-env']) t.false(all.includes(secret), secret);
});

const mistakes: readonly (readonly [settings: object, reported: string])[] = [
  [
    { password: { env: 'PATCHBAY_SPEC_NAEM' } },
    'connections.api.password.env: expected "PATCHBAY_SPEC_NAEM" in the hub\'s environment, but it is not set, did you mean "PATCHBAY_SPEC_NAME"?',
  ],
  [
    { password: { env: 'PATCHBAY_SPEC_EMPTY' } },
    'connections.api.password.env: expected text in "PATCHBAY_SPEC_EMPTY", but it is empty',
  ],
  [{ token: { file: 'none.txt' } }, 'connections.api.token.file: expected a file "none.txt", but it does not exist'],
  [
    { token: { file: '.' } },
    'connections.api.token.file: expected a file with text of at most 64 kB in ".", got a folder',
  ],
  [
    { token: { file: 'long.txt' } },
    'connections.api.token.file: expected a file with text of at most 64 kB in "long.txt", got one of 65,537 bytes or more; the hub reads at most 65,536',
  ],
  [{ bindIp: { env: 'PATCHBAY_SPEC_NAME' } }, 'connections.api.bindIp: expected an IP address, got ***'],
  [
    { webSocketFilters: ['a', { file: 'regex.txt' }] },
    'connections.api.webSocketFilters[1]: expected a regular expression, got ***',
  ],
  [
    { port: { env: 'PATCHBAY_SPEC_NAME' } },
    'connections.api.port: expected an integer 0..65535, got {"env":"PATCHBAY_SPEC_NAME"} (object)',
  ],
];

for (const [settings, reported] of mistakes)
  test(`error: ${JSON.stringify(settings)}`, async (t) => {
    const flow = { connections: { api: { type: 'rest-api', ...settings } } };
    const long = 'x'.repeat(64 * 1024 + 1);
    const folder = await createFolder(t, { 'flow.json5': flow, 'regex.txt': '(secret-regex\n', 'long.txt': long });
    const { message } = (await t.throwsAsync(loadFlows([folder])))!;
    t.regex(message, /^\S+flow\.json5:\d+:\d+: /);
    t.is(message.split(': ').slice(1).join(': '), reported);
  });

test('a variable of a template may be a secret if it is all of its text', async (t) => {
  const instances = { template: './_api.json5', each: { a: { password: { env: 'PATCHBAY_SPEC_NAME' } } } };
  const load = async (password: string) => {
    const connections = { '${instance}': { type: 'rest-api', password } };
    return loadFlows([await createFolder(t, { '_api.json5': { connections }, 'flow.json5': { instances } })]);
  };
  const [api] = (await load('${password}')).connections;
  t.like(api, { id: 'a', settings: { password: 'olivia-from-env' } });
  const { message } = (await t.throwsAsync(load('x${password}')))!;
  t.regex(
    message,
    /expected \$\{password\} to be the whole text, because its value is \{ env: … \} or \{ file: … \} \(instance a of/,
  );
});
