// The OpenAPI document is true: whoever asks for whatever, with whatever right, gets an answer as it says.

import test, { type ExecutionContext } from 'ava';
import { ask } from '../../../support/http.ts';
import { api, type HubUnderTest, startHubFrom, writer } from '../../../support/hub.ts';
import { AnswerCheck, type Document, describedFiles as files } from '../../../support/openapi.ts';
import { sampled } from '../../../support/random.ts';
import { shared } from '../../../support/shared.ts';
import { openClient } from '../../../support/sockets/socket.ts';

const json = { 'content-type': 'application/json', accept: 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

/** Questions by path of the document; a body makes it a POST. */
const questions: [path: string, asked: string, status: number, body?: unknown, headers?: Record<string, string>][] = [
  ['/parameters/{address}', '/parameters/desk/a', 200],
  ['/parameters/{address}', '/parameters/desk/text', 200, undefined, json],
  ['/parameters/{address}', '/parameters/desk/go', 503, undefined, json],
  ['/parameters/{address}', '/parameters/desk/none', 404, undefined, json],
  ['/update', '/update?parameter=desk%2Fa&value=4', 200],
  ['/update', '/update?parameter=desk%2Fa', 400, undefined, json],
  ['/update', '/update', 200, 'parameter=desk%2Fa&value=5', form],
  ['/update', '/update', 200, { parameter: 'desk/a', value: 6 }, json],
  ['/update', '/update', 400, { parameter: 'desk/a', value: null }, json],
  ['/update', '/update', 415, 'x', { 'content-type': 'text/xml' }],
  ['/parameters/{address}', '/parameters/%ff', 400],
  ['/hub', '/hub', 302],
  ['/hub/', '/hub/', 403, undefined, { host: 'elsewhere.example' }],
  ['/hub/alarms', '/hub/alarms', 200],
  ['/hub/alarms', '/hub/alarms?which=all', 200],
  ['/hub/alarms', '/hub/alarms?which=some', 400],
  ['/hub/schedules', '/hub/schedules', 200],
  ['/hub/schedules', '/hub/schedules?week=-3&address=opening/office', 200],
  ['/hub/schedules', '/hub/schedules?week=next', 400],
  ['/hub/rules', '/hub/rules?state=failing&state=limited', 200],
  ['/hub/clients', '/hub/clients', 200],
  ['/hub/clients/{id}', '/hub/clients/none', 404, { action: 'disconnect' }, json],
  ['/hub/clients/{id}', '/hub/clients/1', 400, { action: 'none' }, json],
  ['/hub/connections', '/hub/connections', 200],
  ['/hub/connections/{id}', '/hub/connections/off', 200, { action: 'start' }, json],
  ['/hub/connections/{id}', '/hub/connections/api', 409, { action: 'stop' }, json],
  ['/hub/connections/{id}', '/hub/connections/none', 404, { action: 'stop' }, json],
  ['/hub/drivers/{id}', '/hub/drivers/mixer', 200],
  ['/hub/drivers/{id}', '/hub/drivers/mixer?kind=actions&search=cut&from=3&count=20&item=cut', 200],
  ['/hub/drivers/{id}', '/hub/drivers/mixer?kind=none', 400],
  ['/hub/drivers/{id}', '/hub/drivers/mixer?count=201', 400],
  ['/hub/drivers/{id}', '/hub/drivers/desk', 404],
  ['/hub/dashboards', '/hub/dashboards', 200],
  ['/hub/dashboard-schema', '/hub/dashboard-schema', 200],
  ['/hub/dashboards/{name}', '/hub/dashboards/one', 200],
  ['/hub/dashboards/{name}', '/hub/dashboards/none', 404],
  ['/hub/dashboards/{name}', '/hub/dashboards/bad', 500],
  ['/hub/dashboards/{name}', '/hub/dashboards/%ff', 400],
  ['/hub/explain/{address}', '/hub/explain/desk/b', 200],
  ['/hub/explain/{address}', '/hub/explain/desk/go', 503],
  ['/hub/explain/{address}', '/hub/explain/%ff', 400],
  ['/hub/audit', '/hub/audit', 200],
  ['/hub/audit', '/hub/audit?kind=none', 400],
  ['/hub/events/{address}', '/hub/events/desk/b', 200],
  ['/hub/events/{address}', '/hub/events/desk/none', 404],
  ['/hub/files', '/hub/files', 200],
  ['/hub/overrides', '/hub/overrides', 200],
  ['/hub/rules', '/hub/rules', 400, { rule: 'off', enabled: false, until: 'soon' }, json],
  ['/hub/sources', '/hub/sources', 200],
  ['/hub/source/{file}', '/hub/source/flow.json5', 200],
  ['/hub/source/{file}', '/hub/source/none.json5', 404],
  ['/hub/source/{file}', '/hub/source/flow.ts', 400],
  ['/hub/source/{file}', '/hub/source/%ff', 400],
  ['/hub/edit', '/hub/edit', 409, { file: 'flow.json5', base: 'x', ops: [], mode: 'check' }, json],
  ['/hub/edit', '/hub/edit', 404, { file: 'none.json5', base: 'x', ops: [], mode: 'check' }, json],
  ['/hub/edit', '/hub/edit', 400, { file: 'flow.json5', base: 'x', ops: [], mode: 'x' }, json],
  ['/hub/edit', '/hub/edit', 400, { file: 'flow.json5', mode: 'check' }, json],
  [
    '/hub/edit',
    '/hub/edit',
    200,
    { file: 'new.json5', base: '', ops: [{ path: '', text: '{ rules: [] }' }], mode: 'check' },
    json,
  ],
  ['/hub/edit/sheet', '/hub/edit/sheet', 200, { file: 'flow.json5', rule: '', sheet: 'a', isOpen: true }, json],
  ['/hub/edit/sheet', '/hub/edit/sheet', 404, { file: 'none.json5', rule: '', sheet: 'a', isOpen: true }, json],
  ['/hub/edit/separate', '/hub/edit/separate', 400, { file: 'flow.json5', path: 'rules[0]', made: 0 }, json],
  ['/hub/edit/separate', '/hub/edit/separate', 404, { file: 'none.json5', path: 'rules[0]', made: 0 }, json],
  ['/hub/edit/confirm', '/hub/edit/confirm', 404, { revision: 1 }, json],
  ['/hub/revisions', '/hub/revisions', 200],
  ['/hub/revisions/{revision}/revert', '/hub/revisions/7/revert', 404, {}, json],
  ['/hub/evaluate', '/hub/evaluate', 200, { expression: 'value + 1', from: 'desk/a' }, json],
  ['/hub/evaluate', '/hub/evaluate', 400, { expression: 'value +' }, json],
  ['/hub/evaluate', '/hub/evaluate', 404, { expression: 'value', from: 'desk/none' }, json],
  ['/hub/usages', '/hub/usages?address=desk/a', 200],
  ['/hub/usages', '/hub/usages?address=desk/none', 404],
  ['/hub/usages', '/hub/usages', 400],
  ['/hub/health', '/hub/health', 200],
  ['/hub/health/live', '/hub/health/live', 200],
  ['/hub/health/ready', '/hub/health/ready', 200],
  ['/hub/changes', '/hub/changes?seconds=3600', 200],
  ['/hub/changes', '/hub/changes?seconds=0', 400],
  ['/hub/history', '/hub/history?filter=desk', 200],
  ['/hub/history/{address}', '/hub/history/desk/a', 200],
  ['/hub/history/{address}', '/hub/history/desk/a?points=0', 400],
  ['/hub/hooks/{name}', '/hub/hooks/door', 204, { open: 1 }, { ...json, authorization: 'Bearer open-sesame' }],
  ['/hub/hooks/{name}', '/hub/hooks/door', 422, { open: 'x' }, { ...json, authorization: 'Bearer open-sesame' }],
  [
    '/hub/hooks/{name}',
    '/hub/hooks/door',
    415,
    'x',
    { 'content-type': 'text/xml', authorization: 'Bearer open-sesame' },
  ],
  ['/hub/hooks/{name}', '/hub/hooks/none', 401, {}, json],
  ['/hub/hooks/{name}', '/hub/hooks/a/b', 404, {}, json],
  ['/hub/hubs', '/hub/hubs', 404],
  ['/hub/log', '/hub/log', 200],
  ['/hub/wire/{id}', '/hub/wire/desk', 200],
  ['/hub/wire/{id}', '/hub/wire/desk?after=x', 400],
  ['/hub/wire/{id}', '/hub/wire/none', 404],
  ['/hub/log', '/hub/log?level=x', 400],
  ['/hub/metrics', '/hub/metrics', 200],
  ['/hub/openapi.json', '/hub/openapi.json', 200],
  ['/hub/parameters', '/hub/parameters', 200],
  ['/hub/rules', '/hub/rules', 200],
  ['/hub/ways', '/hub/ways', 200],
  ['/hub/recipes', '/hub/recipes', 200],
  ['/hub/recipes/{recipe}', '/hub/recipes/tally/two-microphones', 200, { as: 'tally', set: { mic1: 'desk/a' } }, json],
  ['/hub/recipes/{recipe}', '/hub/recipes/tally/two-microphones', 400, { as: 'tally', set: { none: 'desk/a' } }, json],
  ['/hub/rules', '/hub/rules', 200, { rule: 'off', enabled: true }, json],
  ['/hub/record', '/hub/record', 403, undefined, { via: '1.1 proxy' }],
  ['/hub/reload', '/hub/reload', 200, { shadow: true }, json],
  ['/hub/reload', '/hub/reload', 200, {}, json],
  ['/hub/reload', '/hub/reload', 400, { shadow: 1 }, json],
  ['/hub/shadow', '/hub/shadow', 200],
  ['/hub/rules', '/hub/rules', 404, { rule: 'none', enabled: true }, json],
  ['/update', '/update', 200, { parameter: 'store/studio-1/save', value: 'now' }, json],
  ['/hub/snapshots', '/hub/snapshots', 200],
  ['/hub/snapshots/{selection}/{name}', '/hub/snapshots/studio-1/now', 200],
  ['/hub/snapshots/{selection}/{name}', '/hub/snapshots/studio-1/none', 404],
  ['/hub/backup', '/hub/backup', 200],
  ['/hub/backup', '/hub/backup', 403, undefined, { via: '1.1 proxy' }],
  ['/hub/store', '/hub/store', 200],
  ['/hub/trace', '/hub/trace?rule=loop%3F', 200],
  ['/hub/trace', '/hub/trace?rule=off', 200],
  ['/hub/trace', '/hub/trace', 400],
  ['/hub/console/{file}', '/hub/console/none', 404],
  ['/hub/me', '/hub/me', 200],
  ['/hub/sign-in', '/hub/sign-in', 200],
  ['/hub/sign-in', '/hub/sign-in', 401, { user: 'nobody', password: 'x' }, json],
  ['/hub/sign-in', '/hub/sign-in', 401, { code: 'x' }, json],
  ['/hub/sign-in/{file}', '/hub/sign-in/page.js', 200],
  ['/hub/sign-in/{file}', '/hub/sign-in/none', 404],
  ['/hub/sign-out', '/hub/sign-out', 409, {}, json],
  ['/hub/users', '/hub/users', 200],
  ['/hub/users', '/hub/users', 404, { action: 'invite', user: 'none', device: 'x' }, json],
  ['/hub/users', '/hub/users', 404, { action: 'invite', user: 'none', device: 'x', dashboard: 'none' }, json],
  ['/hub/users', '/hub/users', 404, { action: 'revoke', device: 'x' }, json],
  ['/hub/users', '/hub/users', 400, { action: 'x', device: 'x' }, json],
  ['/update', '/update?parameter=desk/go&value=1', 200, undefined, json],
  ['/update', '/update?parameter=desk/none&value=1', 404],
  ['/update', '/update?parameter=off/timer/1/trigger&value=1', 403],
  ['/update', '/update?parameter=desk/a&value=x', 400],
  ['/update', '/update', 413, `parameter=desk/text&value=${'x'.repeat(70_000)}`, form],
  ['/hub/connections/{id}', '/hub/connections/off', 409, { action: 'start' }, json],
  ['/hub/connections/{id}', '/hub/connections/off', 415, 'action=start', form],
  ['/hub/connections/{id}', '/hub/connections/off', 200, { action: 'restart' }, json],
  ['/hub/connections/{id}', '/hub/connections/off', 200, { action: 'stop' }, json],
  ['/hub/console/{file}', '/hub/console/%ff', 400],
  ['/hub/explain/{address}', '/hub/explain/desk/a', 200],
  ['/hub/explain/{address}', '/hub/explain/desk/text', 200],
  ['/hub/audit', '/hub/audit?address=desk/*&from=-1h&limit=5', 200],
  ['/hub/audit', '/hub/audit?kind=change&text=desk', 200],
  ['/hub/audit', '/hub/audit?limit=0', 400],
  ['/hub/events/{address}', '/hub/events/desk/a?limit=2', 200],
  ['/hub/events/{address}', '/hub/events/desk/go', 200],
  ['/hub/events/{address}', '/hub/events/desk/a?before=x', 400],
  ['/hub/events/{address}', '/hub/events/%ff', 400],
  ['/hub/history', '/hub/history?filter=desk&format=csv', 200],
  ['/hub/history', '/hub/history?address=desk/a&address=desk/flag', 200],
  ['/hub/history', '/hub/history?filter=(', 400],
  ['/hub/history/{address}', '/hub/history/desk/a?points=2', 200],
  ['/hub/history/{address}', '/hub/history/desk/flag?from=-1d', 200],
  ['/hub/history/{address}', '/hub/history/desk/text', 200],
  ['/hub/history/{address}', '/hub/history/desk/go', 200],
  ['/hub/history/{address}', '/hub/history/desk/a?format=csv', 200],
  ['/hub/history/{address}', '/hub/history/desk/none', 404],
  ['/hub/history/{address}', '/hub/history/%ff', 400],
  ['/hub/log', '/hub/log?after=3&level=info', 200],
  ['/hub/parameters', '/hub/parameters?filter=desk&limit=2', 200],
  ['/hub/parameters', '/hub/parameters?address=desk/a', 200],
  ['/hub/parameters', '/hub/parameters?filter=(', 400],
  ['/hub/rules', '/hub/rules', 400, { rule: 'off' }, json],
  ['/hub/rules', '/hub/rules', 415, 'rule=off', form],
  ['/hub/rules', '/hub/rules', 200, { rule: 'off', enabled: false }, json],
  ['/hub/snapshots/{selection}/{name}', '/hub/snapshots/%ff/now', 400],
  ['/hub/trace', '/hub/trace?rule=none', 404],
  ['/hub/sign-in', '/hub/sign-in', 400, { user: 1 }, json],
  ['/hub/sign-in', '/hub/sign-in', 400, { user: 'x'.repeat(5000) }, json],
  ['/hub/sign-in/{file}', '/hub/sign-in/page.css', 200],
  ['/hub/users', '/hub/users', 400, '{', json],
  ['/hub/client.js', '/hub/client.js', 200],
];

/** The questions below change only values, and what is on and off. */
const start = shared(async (t) => {
  const hub = await startHubFrom(t, files);
  for (const value of [2, 3, 0, 3]) hub.write('desk/a', value, writer);
  hub.write('desk/text', 'x', writer);
  return { hub, ...(await checkOf(t, hub)) };
});

async function checkOf(t: ExecutionContext, { port }: HubUnderTest, headers: Record<string, string> = {}) {
  const document = JSON.parse((await ask(t, port, 'GET /hub/openapi.json', { headers })).text) as Document;
  return { document, check: new AnswerCheck(document) };
}

/** How many answers were held against a document. */
let answers = 0;

/** Asks, and holds the answer against the document; returns it. */
async function hold(
  t: ExecutionContext,
  { port }: HubUnderTest,
  check: AnswerCheck,
  [path, url, , body]: (typeof questions)[number],
  headers: Record<string, string>,
) {
  const method = body === undefined ? 'get' : 'post';
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const line = `${method.toUpperCase()} ${url}`;
  const answer = await ask(t, port, line, { headers, ...(text !== undefined && { body: text }) });
  t.is(check.mistakeOf(path, method, answer), undefined, `${line} ${JSON.stringify(headers)}`);
  answers++;
  return answer;
}

test.serial('each operation answers as documented, in success and in failure', async (t) => {
  const { hub, document, check } = await start();
  await openClient(t, hub.port, '?filter=desk');
  const socket = new WebSocket(`ws://127.0.0.1:${hub.port}/ws`, 'patchbay.v1');
  t.teardown(() => socket.close());
  await new Promise((resolve) => {
    socket.onmessage = ({ data }) => 'end' in JSON.parse(data) && resolve(undefined);
    socket.onopen = () => socket.send('{"sub":1,"include":["desk/*",{"regex":"x"}],"rate":2.5}');
  });
  const asked = new Set<string>();
  for (const question of questions) {
    const [path, url, status, body, headers = {}] = question;
    const answer = await hold(t, hub, check, question, headers);
    t.is(answer.status, status, `${url}: ${answer.text}`);
    asked.add(`${body === undefined ? 'get' : 'post'} ${path}`);
  }
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  t.deepEqual([...asked].sort(), all.sort(), 'every operation was asked for');
});

test.serial('it documents the answers to a repeated request, by another name, and from another site', async (t) => {
  const { hub, check } = await start();
  const isAsked = sampled(t, 2);
  for (const [index, question] of questions.entries()) {
    if (!isAsked(index)) continue;
    const [, url, status, body, headers = {}] = question;
    if (body !== undefined || url.startsWith('/update')) continue;
    const { etag } = (await hold(t, hub, check, question, { ...headers, accept: 'text/plain' })).headers;
    await hold(t, hub, check, question, { ...headers, 'if-match': '"none"' });
    await hold(t, hub, check, question, { ...headers, host: 'elsewhere.example' });
    if (status === 200 && etag !== undefined)
      await hold(t, hub, check, question, { ...headers, 'if-none-match': etag });
  }
});

const users = {
  ann: { password: 'x', read: ['**'], write: ['**'], manage: true },
  bob: { password: 'x', read: ['desk/a'] },
};

test.serial('it documents the answers to users, to users without permission, and to nobody', async (t) => {
  const hub = await startHubFrom(t, {
    ...files,
    'flow.json5': {
      ...files['flow.json5'],
      connections: { ...files['flow.json5'].connections, api: { ...api, users } },
    },
  });
  const ann = { authorization: `Basic ${btoa('ann:x')}` };
  const { check } = await checkOf(t, hub, ann);
  const kiosk = { action: 'invite', user: 'bob', device: 'Reception' };
  const { status, text } = await hold(t, hub, check, ['/hub/users', '/hub/users', 200, kiosk], { ...json, ...ann });
  t.is(status, 200, text);
  const code = JSON.parse(text).link.split('#')[1];
  await hold(t, hub, check, ['/hub/users', '/hub/users', 200], ann);
  const { headers } = await hold(t, hub, check, ['/hub/sign-in', '/hub/sign-in', 200, { code }], json);
  const cookie = headers['set-cookie']!.split(';')[0]!;
  await hold(t, hub, check, ['/hub/me', '/hub/me', 200], { cookie });
  await hold(t, hub, check, ['/hub/users', '/hub/users', 200], ann);
  const isAsked = sampled(t, 2);
  for (const [index, question] of questions.entries()) {
    if (!isAsked(index)) continue;
    const [, url, , body, own = {}] = question;
    if (url === '/hub/sign-in') continue; // it locks out whoever guesses
    await hold(t, hub, check, question, own);
    if (body === undefined) await hold(t, hub, check, question, { ...own, authorization: `Basic ${btoa('bob:x')}` });
  }
});

test.serial('it documents the answers without a store, without a dashboard, and without updates by GET', async (t) => {
  const hub = await startHubFrom(t, {
    'flow.json5': {
      connections: { api: { ...api, getUpdates: false, console: false }, desk: { type: 'dummy', parameters: ['a,I'] } },
      rules: [{ name: 'lamp', shadow: true, from: 'desk/a', to: 'desk/a' }],
    },
  });
  const { check, document } = await checkOf(t, hub);
  t.deepEqual(Object.keys(document.paths['/update']!), ['post']);
  for (const question of questions)
    if (question[3] === undefined && !question[1].startsWith('/update'))
      await hold(t, hub, check, question, question[4] ?? {});
});

test.serial('an undocumented answer is detected: another status, type, property, or form of time', async (t) => {
  const { hub, check } = await start();
  const answer = await ask(t, hub.port, 'GET /hub/files');
  const report = JSON.parse(answer.text);
  t.is(check.mistakeOf('/hub/files', 'get', answer), undefined);
  const wrong: Partial<typeof answer>[] = [
    { status: 418 },
    { headers: { 'content-type': 'text/plain' } },
    { text: JSON.stringify({ ...report, further: 1 }) },
    { text: JSON.stringify({ ...report, time: '2026-11-22T03:21:44Z' }) },
    { text: JSON.stringify({ ...report, time: Date.now() }) },
  ];
  for (const part of wrong)
    t.truthy(check.mistakeOf('/hub/files', 'get', { ...answer, ...part }), JSON.stringify(part));
});

test.serial('at least 250 answers were compared', (t) => {
  t.log(`${answers} answers`);
  t.true(answers >= 250, String(answers));
});
