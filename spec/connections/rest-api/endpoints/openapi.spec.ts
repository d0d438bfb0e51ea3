// The OpenAPI document is valid by the schema of OpenAPI 3.1, and names all that the hub answers and wants.

import { Validator } from '@seriousme/openapi-schema-validator';
import test from 'ava';
import { endpoints, routesOf, type ServerContext } from '../../../../lib/connections/rest-api/endpoints/routes.ts';
import { methodsOf } from '../../../../lib/connections/rest-api/http/router.ts';
import { limits } from '../../../../lib/connections/rest-api/limits/client-limits.ts';
import { settingsSchema } from '../../../../lib/connections/rest-api/settings.ts';
import { ask } from '../../../support/http.ts';
import { api, startHubFrom } from '../../../support/hub.ts';
import { type Document, describedFiles as files } from '../../../support/openapi.ts';
import { shared } from '../../../support/shared.ts';

type Specification = Parameters<Validator['validate']>[0];

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

test('it has exactly the paths and methods that the hub answers', async (t) => {
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
  t.is(new Set(endpoints.map(({ id }) => id)).size, endpoints.length, 'no two have one name');
  t.is(new Set(endpoints.map(({ method, path }) => `${method} ${path}`)).size, endpoints.length, 'or one place');
});

test('it names the required credentials', async (t) => {
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

test('operations without credentials are marked, and a hub with a sign-in page has a cookie', async (t) => {
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

test('a query may request at most the documented maximum; the description has the limit of recordings', async (t) => {
  const { hub, document } = await start();
  const asked: string[] = [];
  for (const [path, { get }] of Object.entries(document.paths))
    for (const { name, schema } of get?.parameters ?? []) {
      if (schema.maximum === undefined) continue;
      const place = path.replace('{address}', 'desk/a').replace('{id}', 'mixer');
      const statusOf = async (count: number) => (await ask(t, hub.port, `GET ${place}?${name}=${count}`)).status;
      t.deepEqual([await statusOf(schema.maximum), await statusOf(schema.maximum + 1)], [200, 400], path);
      asked.push(path);
    }
  t.is(asked.length, 9, `${asked}`);
  t.is(limits.recordings.default, 4);
  t.regex(document.paths['/hub/record']!.get!.responses['409']!.description, /^Four clients /);
});

test('a file of the console may be requested in parts', async (t) => {
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
