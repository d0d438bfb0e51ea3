// The headers of every answer: a foreign page cannot frame, embed, read or misread any answer, and pages of allowedOrigins can.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { createFolder } from '../../../../support/folder.ts';
import { type Answer, ask } from '../../../../support/http.ts';
import { api, type HubUnderTest, startTestHub } from '../../../../support/hub.ts';

const panel = 'https://panel.example';

async function startSite(t: ExecutionContext, settings: object = {}): Promise<HubUnderTest> {
  const folder = await createFolder(t, { 'www/a.txt': '0123456789', 'www/sub/index.html': '<p>' });
  return startTestHub(t, {
    connections: {
      api: { ...api, documentRoot: join(folder, 'www'), ...settings },
      desk: { type: 'dummy', parameters: ['lamp,B,true', 'none'] },
    },
  });
}

/** All kinds of answers: what is asked, the status, further headers, a body. */
const questions: [line: string, status: number, headers?: Record<string, string>, body?: string][] = [
  ['GET /parameters/desk/lamp', 200],
  ['GET /parameters/desk/lamp', 200, { accept: 'application/json' }],
  ['HEAD /parameters/desk/lamp', 200],
  ['GET /parameters/desk/none', 503],
  ['GET /parameters/desk/nothing', 404],
  ['GET /parameters/%ff', 400],
  ['GET /update?parameter=desk/lamp&value=1', 200],
  ['GET /update', 400],
  ['HEAD /update', 405],
  ['PUT /update', 405],
  ['POST /update', 200, { 'content-type': 'application/json' }, '{"parameter":"desk/lamp","value":true}'],
  ['POST /update', 415, { 'content-type': 'text/plain' }, 'x'],
  ['POST /update', 413, { 'content-type': 'application/json' }, 'x'.repeat(70_000)],
  ['GET /ws', 426],
  ['GET /', 302],
  ['GET /hub', 302],
  ['GET /sub', 302],
  ['GET /sub/', 200],
  ['GET /a.txt', 200],
  ['HEAD /a.txt', 200],
  ['GET /a.txt', 206, { range: 'bytes=1-2' }],
  ['GET /a.txt', 416, { range: 'bytes=99-' }],
  ['GET /a.txt', 304, { 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' }],
  ['GET /b.txt', 404],
  ['GET /hub/', 200],
  ['GET /hub/', 304, { 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' }],
  ['GET /hub/console/nothing', 404],
  ['GET /hub/health', 200],
  ['GET /hub/health', 304, { 'if-none-match': '*' }],
  ['GET /hub/parameters', 200],
  ['GET /hub/client.js', 200],
  ['GET /hub/nothing', 404],
  ['POST /hub/rules', 400, { 'content-type': 'application/json' }, '{'],
  ['OPTIONS /parameters/desk/lamp', 405],
  ['GET /parameters/desk/lamp', 403, { host: 'evil.example' }],
  ['GET /parameters/desk/lamp', 403, { origin: 'http://evil.example' }],
  ['GET /update', 403, { 'sec-fetch-site': 'cross-site' }],
];

const consolePolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
  "worker-src 'self'; base-uri 'none'; form-action 'none'";

function expectClosed(t: ExecutionContext, line: string, { headers }: Answer): void {
  const framing = "frame-ancestors 'self'";
  const isConsole = /\/hub\/( |$)|\/hub\/console\//.test(line);
  t.is(headers['x-content-type-options'], 'nosniff', line);
  t.is(headers['cross-origin-resource-policy'], 'same-origin', line);
  t.is(headers['content-security-policy'], isConsole ? `${framing}, ${consolePolicy}` : framing, line);
  t.is(headers['x-frame-options'], 'SAMEORIGIN', line);
  t.is(headers['referrer-policy'], 'same-origin', line);
  t.deepEqual(
    Object.keys(headers).filter((name) => name.startsWith('access-control')),
    [],
    line,
  );
}

test('every answer is restricted to pages of this hub', async (t) => {
  const hub = await startSite(t);
  for (const [line, status, headers = {}, body] of questions) {
    const answer = await ask(t, hub.port, line, { headers, ...(body !== undefined && { body }) });
    t.is(answer.status, status, line);
    expectClosed(t, line, answer);
  }
});

test('docs/access.md names the headers', async (t) => {
  const readme = await readFile(join(import.meta.dirname, '../../../../../docs/access.md'), 'utf8');
  const { headers } = await ask(t, (await startSite(t)).port, 'GET /parameters/desk/lamp');
  const named = [...readme.matchAll(/^\| `([A-Z][A-Za-z-]+): (.*?)` \|/gm)].map(([, name, value]) => [
    name!.toLowerCase(),
    value!,
  ]);
  t.is(named.length, 5);
  for (const [name, value] of named) t.is(headers[name!], value, name);
});

test('a refusal of credentials is restricted, too', async (t) => {
  const hub = await startSite(t, { token: 'YQ==' });
  for (const line of ['GET /hub/health', 'GET /a.txt', 'POST /update', 'OPTIONS /update']) {
    const answer = await ask(t, hub.port, line);
    t.is(answer.status, 401);
    expectClosed(t, line, answer);
  }
});

test('allowedOrigins: only their pages can read, embed and frame every answer', async (t) => {
  const hub = await startSite(t, { allowedOrigins: [panel] });
  for (const [line, status, headers = {}, body] of questions) {
    if (status === 403) continue;
    for (const [page, isAllowed] of [
      [{ origin: panel }, true],
      [{}, false],
    ] as const) {
      const answer = await ask(t, hub.port, line, {
        headers: { ...headers, ...page },
        ...(body !== undefined && { body }),
      });
      const named = (name: string) => answer.headers[`access-control-${name}`];
      t.is(answer.status, status, line);
      t.is(answer.headers['cross-origin-resource-policy'], isAllowed ? 'cross-origin' : 'same-origin', line);
      t.is(answer.headers.vary, 'Origin', line);
      t.true(answer.headers['content-security-policy']!.startsWith(`frame-ancestors 'self' ${panel}`), line);
      t.is(answer.headers['x-frame-options'], undefined, 'it could not name them');
      t.is(named('allow-origin'), isAllowed ? panel : undefined, line);
      t.is(named('allow-credentials'), isAllowed ? 'true' : undefined, line);
      t.regex(named('expose-headers') ?? '', isAllowed ? /ETag/ : /^$/, line);
    }
  }
  const image = await ask(t, hub.port, 'GET /a.txt', { headers: { referer: `${panel}/board.html` } });
  t.is(image.headers['cross-origin-resource-policy'], 'cross-origin', 'images have no Origin');
});

const preflight = { origin: panel, 'access-control-request-method': 'POST' };
const preflights: [what: string, line: string, headers: Record<string, string>, status: number][] = [
  ['of an allowed origin', 'OPTIONS /update', preflight, 204],
  ['of an allowed origin for a file', 'OPTIONS /a.txt', { ...preflight, 'access-control-request-method': 'GET' }, 204],
  ['of another origin', 'OPTIONS /update', { ...preflight, origin: 'https://evil.example' }, 403],
  ['to another host', 'OPTIONS /update', { ...preflight, host: 'evil.example' }, 403],
  ['without a method', 'OPTIONS /update', { origin: panel }, 401],
  ['that is none', 'POST /update', preflight, 401],
];
for (const [what, line, headers, status] of preflights)
  test(`allowedOrigins: a preflight ${what} is answered ${status}, without credentials`, async (t) => {
    const hub = await startSite(t, { allowedOrigins: [panel], token: 'YQ==' });
    const privately = { ...headers, 'access-control-request-private-network': 'true' };
    const answer = await ask(t, hub.port, line, { headers: privately });
    t.is(answer.status, status);
    const named = (name: string) => answer.headers[`access-control-${name}`];
    t.is(named('allow-methods'), status !== 204 ? undefined : line.endsWith('update') ? 'GET, POST' : 'GET, HEAD');
    t.regex(named('allow-headers') ?? '', status === 204 ? /Authorization, Content-Type/ : /^$/);
    t.is(named('max-age'), status === 204 ? '600' : undefined);
    t.is(named('allow-private-network'), status === 204 ? 'true' : undefined);
    t.is(named('allow-origin'), headers.origin === panel ? panel : undefined);
    t.is(answer.headers['content-length'], status === 204 ? undefined : answer.headers['content-length']);
  });

for (const origin of [
  'https://panel.example/',
  'panel.example',
  'ftp://panel.example',
  'https://a b',
  'https://a;b',
  "https://x' *",
])
  test(`allowedOrigins: ${JSON.stringify(origin)} is no origin`, async (t) => {
    await t.throwsAsync(startSite(t, { allowedOrigins: [origin] }), { message: /expected an origin such as https/ });
  });
