// The audit of sign-ins: in the store where there is one, as the console and `patchbay audit` tell it. Guesses do not flood it.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { env } from 'node:process';
import test from 'ava';
import { audit } from '../../../../lib/command/remote/audit-command.ts';
import type { AuditEvent } from '../../../../lib/connections/persistence.ts';
import { AuditSink } from '../../../../lib/connections/rest-api/http/guard/entry.ts';
import type { AuditPage } from '../../../../lib/wire/http/past-shapes.ts';
import { createLogRecorder } from '../../../support/connection.ts';
import { eventually } from '../../../support/deadline.ts';
import { type Answer, ask } from '../../../support/http.ts';
import { api, startTestHub } from '../../../support/hub.ts';

const root = { authorization: 'Bearer token-of-root' };
const json = { 'content-type': 'application/json', accept: 'application/json' };
const flow = (ann: object) => ({
  connections: {
    api: {
      ...api,
      users: {
        root: { token: 'token-of-root', read: ['**'], manage: true },
        ann: { password: 'geheim', ...ann },
        door: { read: ['desk/**'] },
      },
    },
    desk: { type: 'dummy', parameters: ['lamp,B,true'] },
    store: { type: 'store', folder: './data' },
  },
});

test('the audit has arrivals with their credentials, refusals, departures, revocations, and changed permissions', async (t) => {
  const hub = await startTestHub(t, flow({ read: ['desk/**'] }));
  const post = (path: string, body: object, headers = {}): Promise<Answer> =>
    ask(t, hub.port, `POST ${path}`, { headers: { ...json, ...headers }, body: JSON.stringify(body) });
  const notify = async () => {
    const { text } = await ask(t, hub.port, 'GET /hub/audit?kind=sign-in', { headers: root });
    return (JSON.parse(text) as AuditPage).entries;
  };
  await eventually(() => hub.persistence.archive?.audit !== undefined);
  const cookieOf = ({ headers }: Answer) => headers['set-cookie']!.split(';')[0]!;
  const basic = { authorization: `Basic ${Buffer.from('ann:geheim').toString('base64')}` };
  for (let times = 0; times < 3; times++)
    t.is((await ask(t, hub.port, 'GET /parameters/desk/lamp', { headers: basic })).status, 200);
  const browser = await post('/hub/sign-in', { user: 'ann', password: 'geheim' });
  t.is((await post('/hub/sign-out', {}, { cookie: cookieOf(browser), origin: 'http://localhost' })).status, 200);
  const invite = { action: 'invite', user: 'door', device: 'Reception' };
  const { link } = JSON.parse((await post('/hub/users', invite, root)).text);
  await post('/hub/sign-in', { code: link.split('#')[1] });
  const { devices } = JSON.parse((await ask(t, hub.port, 'GET /hub/users', { headers: root })).text);
  await post('/hub/users', { action: 'revoke', device: devices[0].id }, root);
  await post('/hub/users', invite, root);
  await post('/hub/users', { action: 'revoke', device: 'Reception' }, root);
  await Promise.all(Array.from({ length: 15 }, () => post('/hub/sign-in', { user: 'ann', password: 'wrong' })));
  await writeFile(join(hub.folder, 'flow.json5'), JSON.stringify(flow({ read: ['**'], password: 'other' })));
  await hub.reload();
  await eventually(async () => (await notify()).length >= 12);
  const reported = (await notify()).map(({ user, after, cause, count }) => `${user}: ${after}, ${cause}, ${count}`);
  t.deepEqual(reported.reverse(), [
    'api ann 127.0.0.1: in, by credentials, 1',
    'api ann 127.0.0.1: in, by the page, a browser, 1',
    'api ann 127.0.0.1: out, undefined, 1',
    'api root 127.0.0.1: in, by credentials, 1',
    'api root 127.0.0.1: invited, kiosk "Reception" of door, 1',
    'api door 127.0.0.1: in, kiosk "Reception", by its link, 1',
    'api root 127.0.0.1: revoked, kiosk "Reception" of door, 1',
    'api root 127.0.0.1: invited, kiosk "Reception" of door, 1',
    'api root 127.0.0.1: revoked, link to kiosk "Reception" of door, 1',
    'api ann 127.0.0.1: refused, by the sign-in page, 1',
    'api flow files: changed, user "ann" has new rights, 1',
    'api flow files: changed, user "ann" has new credentials, 1',
  ]);
  const lines: string[] = [];
  const options = { url: `http://127.0.0.1:${hub.port}`, username: '', password: '', token: 'token-of-root' };
  const console = { print: (line: string) => lines.push(line), printError: t.fail };
  await audit({ ...options, from: '-1h', kind: 'sign-in', text: 'Reception', limit: '100' }, console as never);
  t.deepEqual(
    lines.map((line) => line.replace(/^\S+ +/, '')),
    [
      'api root 127.0.0.1  sign-in: invited: kiosk "Reception" of door',
      'api door 127.0.0.1  sign-in: in: kiosk "Reception", by its link',
      'api root 127.0.0.1  sign-in: revoked: kiosk "Reception" of door',
      'api root 127.0.0.1  sign-in: invited: kiosk "Reception" of door',
      'api root 127.0.0.1  sign-in: revoked: link to kiosk "Reception" of door',
    ],
  );
});

test('a token in place of a username is neither in the audit nor in the log', async (t) => {
  const token = `door-token-${'x'.repeat(60)}`; // longer than a name is kept
  env.PATCHBAY_SPEC_TOKEN = token;
  const users = {
    root: { token: 'token-of-root', read: ['**'], manage: true },
    door: { token: { env: 'PATCHBAY_SPEC_TOKEN' }, read: [] },
    ann: { password: 'geheim' },
  };
  const authorization = `Basic ${Buffer.from(`${token}:`).toString('base64')}`;
  const tellOf = async (path: string, others: object) => {
    const hub = await startTestHub(t, { connections: { api: { ...api, users }, ...others } });
    const read = async () => (await ask(t, hub.port, `GET ${path}`, { headers: root })).text;
    await eventually(() => 'store' in others === (hub.persistence.archive?.audit !== undefined));
    t.is((await ask(t, hub.port, 'GET /hub/me', { headers: { authorization } })).status, 401);
    await eventually(async () => (await read()).includes('refused'));
    return read();
  };
  const audited = await tellOf('/hub/audit', { store: { type: 'store', folder: './data' } });
  t.true(audited.includes('"user":"api *** 127.0.0.1"'), audited);
  const logged = await tellOf('/hub/log', {});
  t.true(logged.includes('sign-in: api *** 127.0.0.1: refused, by credentials'), logged);
  t.false(`${audited}${logged}`.includes('door-token'));
});

test('without a store, the log has a line for each user whom a reload changes', async (t) => {
  const { api: own, desk } = flow({}).connections;
  const others = { root: own.users.root, bob: { password: 'bobs', read: ['desk/**'] } };
  const hub = await startTestHub(t, { connections: { api: own, desk } });
  await writeFile(
    join(hub.folder, 'flow.json5'),
    JSON.stringify({ connections: { api: { ...own, users: others }, desk } }),
  );
  await hub.reload();
  t.deepEqual(hub.lines.flatMap(({ message }) => /^sign-in: .*: changed, (.*)$/.exec(message)?.[1] ?? []).sort(), [
    'user "ann" was removed',
    'user "bob" was added',
    'user "door" was removed',
  ]);
});

test('guesses of a network are one entry and a count, and those of very many networks are counted together', async (t) => {
  const deeds: AuditEvent[] = [];
  const archive = { audit: {} };
  const persistence = { archive, note: (auditEvent: AuditEvent) => deeds.push(auditEvent) };
  const context = { id: 'api', log: createLogRecorder(), withoutSecrets: (text: string) => text };
  const auditSink = new AuditSink(context, { persistence } as never, 50);
  for (let guess = 0; guess < 100_000; guess++)
    auditSink.note(`user ${guess}`, '10.0.0.1', 'refused', 'by credentials');
  for (let guess = 0; guess < 1000; guess++) auditSink.note('ann', `10.1.${guess >> 8}.${guess & 255}`, 'refused', '');
  await eventually(() => deeds.reduce((sum, { count = 1 }) => sum + count, 0) === 101_000);
  t.true(deeds.length <= 102, `${deeds.length} entries`);
  t.like(deeds[0], { kind: 'sign-in', user: 'api user 0 10.0.0.1', after: 'refused', count: 1 });
  t.true(deeds.some(({ count }) => count === 99_999));
});
