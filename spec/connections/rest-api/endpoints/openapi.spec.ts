// The OpenAPI document is valid by the schema of OpenAPI 3.1, has the paths and methods of the hub, and is true: the answers of a hub are as
// it says.

import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import test from 'ava';
import { routesOf, type ServerContext } from '../../../../lib/connections/rest-api/endpoints/endpoints.ts';
import { methodsOf } from '../../../../lib/connections/rest-api/http/router.ts';
import { limits } from '../../../../lib/connections/rest-api/limits/limits.ts';
import { settingsSchema } from '../../../../lib/connections/rest-api/settings.ts';
import { type Answer, ask } from '../../../support/http.ts';
import { api, startHubFrom, writer } from '../../../support/hub.ts';
import { shared } from '../../../support/shared.ts';
import { openClient } from '../../../support/sockets/socket.ts';

type Specification = Parameters<Validator['validate']>[0];

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly schema: { readonly maximum?: number } }[];
  readonly responses: Readonly<
    Record<string, { description: string; content?: Readonly<Record<string, { schema?: object }>> }>
  >;
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly security: readonly object[];
}

const rule = { name: 'loop?', from: 'desk/a', map: '10 / value', to: ['desk/b', 'desk/text'] };
const files = {
  'flow.json5': {
    connections: {
      api: { ...api, dashboards: '_boards' },
      desk: { type: 'dummy', parameters: ['a,I', 'b,F', 'text', 'flag,B,true', 'go,T'] },
      off: { type: 'timer', enabled: false },
      store: { type: 'store', folder: '_data', snapshots: { 'studio-1': { include: ['desk/**'] } } },
    },
    rules: [
      { folder: 'f', rules: [rule] },
      { name: 'off', enabled: false, from: 'desk/go', to: 'desk/flag' },
    ],
  },
  '_boards/one.json5': "{ title: 'One', widgets: [] }",
  '_boards/bad.json5': '{',
};

/** The questions below change only values, and what is on and off. */
const start = shared(async (t) => {
  const hub = await startHubFrom(t, files);
  const answer = await ask(t, hub.port, 'GET /hub/openapi.json');
  return { hub, document: JSON.parse(answer.text) as Document };
});

test('the document is one of OpenAPI 3.1', async (t) => {
  const { document } = await start();
  t.regex(document.openapi, /^3\.1\./);
  const isValid = (candidate: object) => new Validator().validate(structuredClone(candidate) as Specification);
  const { valid, errors } = await isValid(document);
  t.true(valid, JSON.stringify(errors));
  t.false((await isValid({ ...document, paths: { '/x': { get: { responses: 7 } } } })).valid, 'mistakes are found');
});

test('it has every path and method that the hub answers, and no other', async (t) => {
  const { document } = await start();
  const settings = settingsSchema.parse({});
  const context = { settings, resolvePath: (path: string) => path, consoleFolder: '' } as unknown as ServerContext;
  const isOurs = ({ path }: { path: string }) => /^\/(hub|parameters|update)\b/.test(path) && path !== '/hub/*';
  const answered = routesOf(context)
    .filter(isOurs)
    .flatMap((route) => methodsOf(route).map((method) => `${method} ${route.path}`))
    .filter((line) => !line.startsWith('HEAD '));
  const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}.*/, '*')}`),
  );
  t.deepEqual([...documented].sort(), [...answered].sort());
  t.true(answered.length > 20);
});

test('it names the credentials that are wanted', async (t) => {
  for (const [settings, security] of [
    [{}, [{}]],
    [{ token: 'YQ==' }, [{ bearer: [] }]],
    [{ username: 'ann', token: 'YQ==' }, [{ basic: [] }, { bearer: [] }]],
  ] as const) {
    const hub = await startHubFrom(t, { 'flow.json5': { connections: { api: { ...api, ...settings } } } });
    const headers = { authorization: 'Bearer YQ==' };
    const document = JSON.parse((await ask(t, hub.port, 'GET /hub/openapi.json', { headers })).text) as Document;
    t.deepEqual(document.security, security);
  }
});

test('what needs no credentials says so, and where people sign in there is a cookie', async (t) => {
  const users = { ann: { password: 'x', read: ['**'] } };
  const hub = await startHubFrom(t, { 'flow.json5': { connections: { api: { ...api, users } } } });
  const headers = { authorization: `Basic ${btoa('ann:x')}` };
  const { text } = await ask(t, hub.port, 'GET /hub/openapi.json', { headers });
  const { paths, security, components } = JSON.parse(text);
  t.deepEqual(security, [{ basic: [] }, { cookie: [] }]);
  t.is(components.securitySchemes.cookie.name, `patchbay-${hub.port}`);
  for (const [path, methods] of Object.entries<Document['paths'][string]>(paths))
    for (const [method, { responses, ...operation }] of Object.entries(methods)) {
      if (path.includes('{') || method !== 'get') continue;
      const { status } = await ask(t, hub.port, `GET ${path}`);
      t.is('security' in operation, status !== 401, path);
      t.true(String(status) in responses, `${path}: ${status}`);
    }
  for (const path of ['/hub', '/hub/']) {
    const { status } = await ask(t, hub.port, `GET ${path}`, { headers: { accept: 'text/html' } });
    t.is(status, 302);
    t.true('302' in paths[path].get.responses);
  }
});

test('a query may ask for the most that it names, and for no more; words name the limit of recordings', async (t) => {
  const { hub, document } = await start();
  const asked: string[] = [];
  for (const [path, { get }] of Object.entries(document.paths))
    for (const { name, schema } of get?.parameters ?? []) {
      if (schema.maximum === undefined) continue;
      const place = path.replace('{address}', 'desk/a');
      const statusOf = async (count: number) => (await ask(t, hub.port, `GET ${place}?${name}=${count}`)).status;
      t.deepEqual([await statusOf(schema.maximum), await statusOf(schema.maximum + 1)], [200, 400], path);
      asked.push(path);
    }
  t.is(asked.length, 5, `${asked}`);
  t.is(limits.recordings.default, 4);
  t.regex(document.paths['/hub/record']!.get!.responses['409']!.description, /^Four clients /);
});

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
  ['/hub/clients', '/hub/clients', 200],
  ['/hub/connections', '/hub/connections', 200],
  ['/hub/connections/{id}', '/hub/connections/off', 200, { action: 'start' }, json],
  ['/hub/connections/{id}', '/hub/connections/api', 409, { action: 'stop' }, json],
  ['/hub/connections/{id}', '/hub/connections/none', 404, { action: 'stop' }, json],
  ['/hub/dashboards', '/hub/dashboards', 200],
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
  ['/hub/health', '/hub/health', 200],
  ['/hub/health/live', '/hub/health/live', 200],
  ['/hub/health/ready', '/hub/health/ready', 200],
  ['/hub/history', '/hub/history?filter=desk', 200],
  ['/hub/history/{address}', '/hub/history/desk/a', 200],
  ['/hub/history/{address}', '/hub/history/desk/a?points=0', 400],
  ['/hub/hubs', '/hub/hubs', 404],
  ['/hub/log', '/hub/log', 200],
  ['/hub/log', '/hub/log?level=x', 400],
  ['/hub/metrics', '/hub/metrics', 200],
  ['/hub/openapi.json', '/hub/openapi.json', 200],
  ['/hub/parameters', '/hub/parameters', 200],
  ['/hub/rules', '/hub/rules', 200],
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
];

test('a file of the console may be asked for in parts', async (t) => {
  const { hub, document } = await start();
  for (const [range, status] of [
    ['bytes=0-1', 206],
    ['bytes=999999999-', 416],
  ] as const) {
    const answer = await ask(t, hub.port, 'GET /hub/client.js', { headers: { range } });
    t.is(answer.status, status);
    t.true(String(status) in document.paths['/hub/client.js']!.get!.responses);
  }
});

test('answers of a hub are as it says', async (t) => {
  const { hub, document } = await start();
  await openClient(t, hub.port, '?filter=desk');
  const socket = new WebSocket(`ws://127.0.0.1:${hub.port}/ws`, 'patchbay.v1');
  t.teardown(() => socket.close());
  await new Promise((resolve) => {
    socket.onmessage = ({ data }) => 'end' in JSON.parse(data) && resolve(undefined);
    socket.onopen = () => socket.send('{"sub":1,"include":["desk/*",{"regex":"x"}],"rate":2.5}');
  });
  for (const value of [2, 3, 0]) hub.write('desk/a', value, writer);
  hub.write('desk/a', 3, writer);
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'hub');
  const check = ([path, asked, status, body]: (typeof questions)[number], answer: Answer) => {
    t.is(answer.status, status, `${asked}: ${answer.text}`);
    const pointer = ['paths', path, body === undefined ? 'get' : 'post', 'responses', String(status)];
    const { content } = document.paths[path]![pointer[2]!]!.responses[status] ?? t.fail(`${asked}: ${status}`);
    if (content === undefined) return;
    const [type = ''] = (answer.headers['content-type'] ?? '').split(';');
    t.true(type in content, `${asked}: ${type}`);
    const schema = [...pointer, 'content', type, 'schema'].map((part) =>
      encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')),
    );
    const validate = ajv.compile({ $ref: `hub#/${schema.join('/')}` });
    const isJson = type.endsWith('json');
    t.true(validate(isJson ? JSON.parse(answer.text) : answer.text), `${asked}: ${JSON.stringify(validate.errors)}`);
  };
  const asked = new Set<string>();
  for (const question of questions) {
    const [path, url, , body, headers = {}] = question;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const line = `${body === undefined ? 'GET' : 'POST'} ${url}`;
    check(question, await ask(t, hub.port, line, { headers, ...(body === undefined ? {} : { body: text! }) }));
    asked.add(path);
  }
  const pages = ['/hub/client.js'];
  t.deepEqual([...asked, ...pages].sort(), Object.keys(document.paths).sort(), 'every path was asked for');
});
