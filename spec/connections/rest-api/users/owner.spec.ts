// The user with all rights, whom `username`, `password` and `token` name: it changes as other users do, and nobody else notices.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { ask } from '../../../support/http.ts';
import { api, type HubUnderTest, portsOf, startTestHub } from '../../../support/hub.ts';
import { openClient } from '../../../support/sockets/socket.ts';

const users = { ann: { token: 'token-of-ann', read: ['**'] } };
const flow = (settings: object) => ({
  connections: { api: { ...api, ...settings }, desk: { type: 'dummy', parameters: ['lamp,B,true'] } },
});
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });

async function reload(hub: HubUnderTest, settings: object): Promise<void> {
  await writeFile(join(hub.folder, 'flow.json5'), JSON.stringify(flow(settings)));
  await hub.reload();
}

const statusOf = async (t: ExecutionContext, hub: HubUnderTest, headers: Record<string, string>) =>
  (await ask(t, hub.port, 'GET /parameters/desk/lamp', { headers })).status;

const changesOf = ({ lines }: HubUnderTest) =>
  lines.flatMap(({ message }) => /^sign-in: api flow files: changed, (.*)$/.exec(message)?.[1] ?? []);

const own = { username: 'root', password: 'geheim', token: 'own' };
const rows: [what: string, before: object, after: object, reported: string[]][] = [
  ['another token', { token: 'own' }, { token: 'own2' }, ['the user without a name has new credentials']],
  [
    'another token, where nobody needs credentials to read',
    { token: 'own', anonymous: { read: ['**'] } },
    { token: 'own2', anonymous: { read: ['**'] } },
    ['the user without a name has new credentials'],
  ],
  ['another password', own, { ...own, password: 'geheim2' }, ['user "root" has new credentials']],
  ['another name', own, { ...own, username: 'boss' }, ['user "boss" was added', 'user "root" was removed']],
  ['no credentials', own, {}, ['user "root" was removed']],
];
for (const [what, before, after, reported] of rows)
  test(`the owner has ${what}: its sockets are closed with 4501, those of others stay`, async (t) => {
    const hub = await startTestHub(t, flow({ users, ...before }));
    const owner = await openClient(t, hub.port, '', bearer('own'));
    const ann = await openClient(t, hub.port, '?snapshot=true', bearer('token-of-ann'));
    t.deepEqual(await ann.next(), { p: 'desk/lamp', v: 'true' });
    await reload(hub, { users, ...after });
    t.is((await owner.closed()).code, 4501);
    t.deepEqual(changesOf(hub).sort(), reported);
    hub.write('desk/lamp', false, { kind: 'client', name: 'spec' });
    t.deepEqual(await ann.next(), { p: 'desk/lamp', v: 'false' });
    t.is(portsOf(hub).length, 1, 'the connection has not started anew');
  });

test('a change of credentials of the owner invalidates the old ones and accepts the new ones', async (t) => {
  const hub = await startTestHub(t, flow(own));
  for (const headers of [basic('root:geheim'), bearer('own')]) t.is(await statusOf(t, hub, headers), 200);
  await reload(hub, { ...own, password: 'geheim2', token: 'own2' });
  for (const headers of [basic('root:geheim'), bearer('own'), {}]) t.is(await statusOf(t, hub, headers), 401);
  for (const headers of [basic('root:geheim2'), bearer('own2')]) t.is(await statusOf(t, hub, headers), 200);
});

test('a new owner, or one with other credentials, appears in the document and in the challenges', async (t) => {
  const hub = await startTestHub(t, flow({ users }));
  const socket = await openClient(t, hub.port, '', bearer('token-of-ann'));
  const schemes = async () => {
    const { text } = await ask(t, hub.port, 'GET /hub/openapi.json', { headers: bearer('token-of-ann') });
    return JSON.parse(text).security.flatMap(Object.keys);
  };
  t.deepEqual(await schemes(), ['bearer', 'cookie']);
  await reload(hub, { users, username: 'root', password: 'geheim' });
  t.deepEqual(await schemes(), ['basic', 'bearer', 'cookie']);
  t.regex((await ask(t, hub.port, 'GET /parameters/desk/lamp')).headers['www-authenticate']!, /^Basic .*Bearer /);
  t.true(socket.isOpen);
});

for (const [before, after] of [
  [{ token: 'own' }, {}],
  [{}, { token: 'own' }],
])
  test(`the connection starts anew from ${JSON.stringify(before)} to ${JSON.stringify(after)}: it is open to everybody, or not`, async (t) => {
    const hub = await startTestHub(t, flow(before!));
    const socket = await openClient(t, hub.port, '', bearer('own'));
    await reload(hub, after!);
    t.is((await socket.closed()).code, 1001);
    const [, port] = portsOf(hub);
    const { status } = await ask(t, port!, 'GET /parameters/desk/lamp');
    t.is(status, 'token' in after! ? 401 : 200);
  });
