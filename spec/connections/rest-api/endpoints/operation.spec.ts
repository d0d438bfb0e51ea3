// What operators ask for and do over HTTP: connections, rules, flow files and the log.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { HubPort } from '../../../../lib/connections/hub-port.ts';
import { logOf } from '../../../../lib/connections/rest-api/endpoints/log.ts';
import { type Answer, ask, openWire, request } from '../../../support/http.ts';
import { api, expectQuietLog, type HubUnderTest, startTestHub, writer } from '../../../support/hub.ts';

const copy = { name: 'copy', from: 'desk/a', to: 'desk/b' };
const flow = {
  connections: {
    api,
    clock: { type: 'timer', timers: [1000], pulses: [], statusParameter: true, description: 'the clock' },
    desk: { type: 'dummy', parameters: ['a,I', 'b,I', 'c,I'] },
  },
  rules: [copy, { folder: 'Later', enabled: false, rules: [{ ...copy, name: 'late', to: 'desk/c' }] }],
};
const json = { 'content-type': 'application/json' };

const get = async (t: ExecutionContext, hub: HubUnderTest, path: string) =>
  JSON.parse((await ask(t, hub.port, `GET /hub/${path}`)).text);

const post = (t: ExecutionContext, hub: HubUnderTest, path: string, body: unknown, headers = {}): Promise<Answer> =>
  ask(t, hub.port, `POST /hub/${path}`, { body: JSON.stringify(body), headers: { ...json, ...headers } });

function expectProblem(t: ExecutionContext, answer: Answer, status: number, detail: string | RegExp): void {
  t.is(answer.status, status, answer.text);
  t.is(answer.headers['content-type'], 'application/problem+json');
  const problem = JSON.parse(answer.text);
  t.is(problem.status, status);
  if (typeof detail === 'string') t.is(problem.detail, detail);
  else t.regex(problem.detail, detail);
}

test('a connection is stopped, started and restarted, and shows the author', async (t) => {
  const hub = await startTestHub(t, flow);
  const file = join(hub.folder, 'flow.json5');
  const { connections } = await get(t, hub, 'connections');
  t.like(connections, [
    { id: 'api', type: 'rest-api', state: 'running', parameters: 0, enabled: true, file },
    { id: 'clock', type: 'timer', description: 'the clock', state: 'running', reason: '', parameters: 3, file },
    { id: 'desk', parameters: 3 },
  ]);
  t.is(new Date(connections[0].since).toISOString(), connections[0].since);
  const stopped = await post(t, hub, 'connections/clock', { action: 'stop' });
  t.is(stopped.status, 200);
  t.is(stopped.headers['cache-control'], 'no-store');
  const expected = { id: 'clock', state: 'disabled', reason: 'stopped by api 127.0.0.1', enabled: true };
  t.like(JSON.parse(stopped.text), expected);
  t.like((await get(t, hub, 'connections')).connections[1], expected);
  t.is((await ask(t, hub.port, 'GET /parameters/clock/_status/connected')).text, 'false');
  for (const action of ['start', 'restart'])
    t.like(JSON.parse((await post(t, hub, 'connections/clock', { action })).text), { state: 'running', reason: '' });
  t.is((await ask(t, hub.port, 'GET /parameters/clock/_status/connected')).text, 'true');
  expectQuietLog(t, hub);
});

test('the structure number changes when a parameter is added, removed or replaced, and only then', async (t) => {
  const hub = await startTestHub(t, flow);
  const structure = async () => (await get(t, hub, 'connections')).structure;
  const seen = new Set([await structure()]);
  for (const parameters of [
    ['a,I', 'b,I', 'd,I'],
    ['a,I', 'b,I', 'd,F'],
    ['a,I', 'b,I'],
    flow.connections.desk.parameters,
  ]) {
    const changed = {
      ...flow,
      rules: [copy],
      connections: { ...flow.connections, desk: { type: 'dummy', parameters } },
    };
    await writeFile(join(hub.folder, 'flow.json5'), JSON.stringify(changed));
    await hub.reload();
    hub.write('desk/a', seen.size, writer);
    const now = await structure();
    t.false(seen.has(now), `${parameters}`);
    seen.add(now);
    t.is(await structure(), now);
  }
});

test('a connection is not stopped by itself, nor twice, nor when there is none', async (t) => {
  const hub = await startTestHub(t, { connections: { ...flow.connections, other: api } });
  for (const action of ['stop', 'restart'])
    expectProblem(
      t,
      await post(t, hub, 'connections/api', { action }),
      409,
      `${action}: expected a connection other than "api", which receives this request`,
    );
  t.is((await post(t, hub, 'connections/other', { action: 'stop' })).status, 200);
  expectProblem(t, await post(t, hub, 'connections/other', { action: 'stop' }), 409, /"other" is disabled$/);
  expectProblem(t, await post(t, hub, 'connections/desk', { action: 'start' }), 409, /"desk" is running$/);
  const unknown = await post(t, hub, 'connections/clokc', { action: 'stop' });
  expectProblem(t, unknown, 404, 'unknown connection "clokc", did you mean "clock"?');
  t.is((await post(t, hub, 'connections/other', { action: 'start' })).status, 200);
  expectQuietLog(t, hub);
});

test('a rule is switched off and on; disabled rules are listed', async (t) => {
  const hub = await startTestHub(t, flow);
  const file = join(hub.folder, 'flow.json5');
  t.like(await get(t, hub, 'rules'), [
    { name: 'copy', file, folder: [], enabled: true, from: ['desk/a'], to: ['desk/b'], state: 'running' },
    { name: 'late', file, folder: ['Later'], enabled: false, state: 'disabled', reason: '' },
  ]);
  const off = await post(t, hub, 'rules', { rule: 'copy', enabled: false });
  t.is(off.status, 200);
  t.like(JSON.parse(off.text), { enabled: false, state: 'disabled', reason: 'disabled by api 127.0.0.1' });
  t.is((await post(t, hub, 'rules', { rule: 'late', file, enabled: true })).status, 200);
  hub.write('desk/a', 1, writer);
  t.deepEqual([hub.find('desk/b')?.value, hub.find('desk/c')?.value], [undefined, 1]);
  t.deepEqual((await get(t, hub, 'trace?rule=copy'))[0].runs, []);
  t.is((await post(t, hub, 'rules', { rule: 'copy', enabled: true })).status, 200);
  hub.write('desk/a', 2, writer);
  t.is(hub.find('desk/b')?.value, 2);
  expectProblem(
    t,
    await post(t, hub, 'rules', { rule: 'cpoy', enabled: true }),
    404,
    'unknown rule "cpoy", did you mean "copy"?',
  );
  expectQuietLog(t, hub);
});

test('of two rules with one name the file says which', async (t) => {
  const hub = await startTestHub(t, { ...flow, rules: [copy, { ...copy, to: 'desk/c' }] });
  expectProblem(t, await post(t, hub, 'rules', { rule: 'copy', enabled: false }), 409, /expected the file as well/);
});

test('the files show the messages of their last load, and of a refused reload', async (t) => {
  const hub = await startTestHub(t, flow);
  const path = join(hub.folder, 'flow.json5');
  const first = await get(t, hub, 'files');
  t.like(first, { loaded: true, reason: '', files: [{ path, connections: 3, rules: 2, mistakes: [] }] });
  await writeFile(join(hub.folder, 'more.json5'), '{ rules: [\n  { from: "desk/x", to: "desk/b" },\n] }');
  await writeFile(join(hub.folder, 'worse.json5'), '{ rules: [ }');
  await t.throwsAsync(hub.reload(), { code: 'bad-flow' });
  const second = await get(t, hub, 'files');
  t.like(second, { loaded: false, reason: 'the flow files have errors' });
  t.true(second.time >= first.time);
  const [good, wrong, worse] = second.files;
  t.deepEqual(good, { path, connections: 3, rules: 2, mistakes: [] });
  t.is(wrong.mistakes.length, 1);
  t.regex(wrong.mistakes[0], /more\.json5:2:5: rules\[0\]\.from: unknown parameter "desk\/x"/);
  t.regex(worse.mistakes[0], /worse\.json5:1:\d+: expected /);
  await writeFile(join(hub.folder, 'more.json5'), '{}');
  await writeFile(join(hub.folder, 'worse.json5'), '{}');
  await hub.reload();
  t.like(await get(t, hub, 'files'), { loaded: true, files: { length: 3 } });
});

test('a reload that a gateway refuses has its reason, though the files are valid', async (t) => {
  const hub = await startTestHub(t, flow);
  const other = await startTestHub(t, flow);
  const taken = { ...flow, connections: { ...flow.connections, second: { ...api, port: other.port } } };
  await writeFile(join(hub.folder, 'flow.json5'), JSON.stringify(taken));
  await t.throwsAsync(hub.reload(), { code: 'cannot-start' });
  const { loaded, reason, files } = await get(t, hub, 'files');
  t.false(loaded);
  t.regex(reason, /flow\.json5:1:\d+: connections\.second\.port: expected a free port/);
  t.deepEqual(files[0].mistakes, []);
});

test('the log is read in parts, by level, and contains no secret', async (t) => {
  const secrets = { username: 'ann', password: 'pass-8441', token: 'dG9rZW4tODQ0MQ==' };
  const hub = await startTestHub(t, { ...flow, connections: { ...flow.connections, api: { ...api, ...secrets } } });
  const headers = { authorization: `Bearer ${secrets.token}` };
  const read = async (query: string) => JSON.parse((await ask(t, hub.port, `GET /hub/log${query}`, { headers })).text);
  const all = await read('');
  t.true(all.entries.some(({ message }: { message: string }) => message.startsWith('listening on ')));
  t.like(
    all.entries.find(({ connection }: { connection?: string }) => connection === 'clock'),
    {
      level: 'info',
      message: 'connection "clock" is running',
    },
  );
  t.is(all.next, all.entries.at(-1).n);
  t.deepEqual(await read(`?after=${all.next}`), { entries: [], next: all.next, count: all.count });
  await writeFile(
    join(hub.folder, 'bad.json5'),
    JSON.stringify({ connections: { more: { ...api, password: ['pass-8442'], token: 8443 } } }),
  );
  await t.throwsAsync(hub.reload());
  await ask(t, hub.port, 'GET /hub/log', { headers: { authorization: 'Bearer dG9rZW4tODQ0NA==' } });
  const news = await read(`?after=${all.next}`);
  t.true(news.entries.every(({ n }: { n: number }) => n > all.next));
  const errors = news.entries.filter(({ level }: { level: string }) => level === 'error');
  t.true(errors.length >= 3);
  t.is(news.entries.at(-1).message, 'sign-in: api 127.0.0.1: refused, by credentials');
  t.deepEqual((await read('?level=error')).entries, errors);
  t.deepEqual((await read('?after=999999')).entries.length, all.entries.length + news.entries.length);
  t.notRegex(JSON.stringify(await read('')), /pass-844|\b8443\b|ODQ0/);
});

const bad: [line: string, body: unknown, headers: Record<string, string>, status: number, detail: string | RegExp][] = [
  ['POST /hub/connections/clock', { action: 'jump' }, json, 400, /^action: expected one of "start", "stop", "restart"/],
  ['POST /hub/connections/clock', { action: 'stop', now: 1 }, json, 400, 'unknown key "now"'],
  ['POST /hub/connections/clock', ['stop'], json, 400, /^body: expected an object with action, until, reason, got/],
  ['POST /hub/connections/%ff', { action: 'stop' }, json, 400, /percent-encoded/],
  ['POST /hub/connections/clock', { action: 'stop' }, { 'content-type': 'text/plain' }, 415, /^Content-Type/],
  ['POST /hub/rules', { rule: 'copy' }, json, 400, 'enabled: expected true or false, got nothing'],
  ['POST /hub/rules', { rule: 7, enabled: true }, json, 400, 'rule: expected the name of a rule, got 7 (number)'],
  ['POST /hub/rules', { rule: 'x'.repeat(70_000), enabled: true }, json, 413, /65536 bytes/],
  ['GET /hub/log?after=-1', undefined, {}, 400, /^after: expected the number of an entry/],
  ['GET /hub/log?level=loud', undefined, {}, 400, /^level: expected one of debug, info, warn, error/],
  ['GET /hub/connections/clock', undefined, {}, 405, 'expected POST, got GET'],
  ['DELETE /hub/rules', undefined, {}, 405, 'expected GET, HEAD, POST, got DELETE'],
  ['POST /hub/files', {}, json, 405, 'expected GET, HEAD, got POST'],
  ['GET /hub/nothing', undefined, {}, 404, /no such page/],
];
for (const [line, body, headers, status, detail] of bad)
  test(`${line} ${JSON.stringify(body)?.slice(0, 60) ?? ''} is answered ${status}`, async (t) => {
    const hub = await startTestHub(t, flow);
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    expectProblem(t, await ask(t, hub.port, line, { headers, ...sent }), status, detail);
    t.is(hub.connections().find(({ id }) => id === 'clock')?.state, 'running');
    expectQuietLog(t, hub);
  });

test('pages of other sites, foreign names and strangers change nothing', async (t) => {
  const hub = await startTestHub(t, { ...flow, connections: { ...flow.connections, api: { ...api, token: 'YQ==' } } });
  const rows: [headers: Record<string, string>, status: number][] = [
    [{ origin: 'http://evil.example', authorization: 'Bearer YQ==' }, 403],
    [{ host: 'evil.example', authorization: 'Bearer YQ==' }, 403],
    [{ 'sec-fetch-site': 'cross-site', authorization: 'Bearer YQ==' }, 403],
    [{}, 401],
  ];
  for (const [headers, status] of rows)
    for (const [path, body] of [
      ['connections/clock', { action: 'stop' }],
      ['rules', { rule: 'copy', enabled: false }],
    ] as const) {
      const answer = await post(t, hub, path, body, headers);
      t.is(answer.status, status, path);
      t.is(answer.headers['content-type'], 'application/problem+json');
    }
  for (const path of ['', 'connections', 'rules', 'files', 'log', 'clients', 'dashboards', 'openapi.json', 'console/x'])
    t.is((await ask(t, hub.port, `GET /hub/${path}`)).status, 401, path);
  t.is(hub.rules()[0]?.enabled, true);
  t.is(hub.connections()[1]?.state, 'running');
});

test('unchanged content is answered 304, also to HEAD; changed content is not', async (t) => {
  const hub = await startTestHub(t, flow);
  const wire = await openWire(t, hub.port);
  for (const path of ['connections', 'rules', 'files', 'log', 'dashboards', 'openapi.json', 'trace?rule=copy']) {
    wire.send(request(`GET /hub/${path}`));
    const { status, headers, text } = await wire.answer();
    t.deepEqual([status, headers['cache-control']], [200, 'no-cache'], path);
    t.regex(headers.etag ?? '', /^"[\w-]+"$/);
    for (const method of ['GET', 'HEAD']) {
      wire.send(request(`${method} /hub/${path}`, { headers: { 'if-none-match': `"x", W/${headers.etag}` } }));
      const same = await wire.answer({ isHead: method === 'HEAD' });
      t.deepEqual([same.status, same.text, same.headers.etag], [304, '', headers.etag], path);
    }
    wire.send(request(`HEAD /hub/${path}`));
    const head = await wire.answer({ isHead: true });
    t.deepEqual([head.status, head.headers['content-length']], [200, String(Buffer.byteLength(text))], path);
  }
  const { etag = '' } = (await ask(t, hub.port, 'GET /hub/rules')).headers;
  hub.switchRule('copy', undefined, false, writer);
  t.is((await ask(t, hub.port, 'GET /hub/rules', { headers: { 'if-none-match': etag } })).status, 200);
});

test('GET /hub/log: one answer has about 256 KiB; asked on with `next`, all entries come, each once', (t) => {
  const message = 'x'.repeat(1500);
  const all = Array.from({ length: 500 }, (_, place) => ({
    n: place + 1,
    time: 0,
    level: 'info',
    message: `${place} ${message}`,
  }));
  const hub = { log: (after: number) => ({ entries: all.slice(after), next: 500 }) } as unknown as HubPort;
  const sizes: number[] = [];
  const messages: string[] = [];
  for (let next = 0; next < 500; ) {
    const page = logOf(hub, `after=${next}`);
    sizes.push(JSON.stringify(page).length);
    messages.push(...page.entries.map(({ message }) => message));
    next = page.next;
  }
  t.is(messages.length, 500);
  t.is(new Set(messages).size, 500);
  t.true(sizes.length === 3 && Math.max(...sizes) < 300 * 1024, `${sizes}`);
});
