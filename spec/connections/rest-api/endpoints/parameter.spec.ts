// Reading parameters by HTTP (S-07, D-01, D-03, D-13).

import test, { type ExecutionContext } from 'ava';
import { ask, openWire, request } from '../../../support/http.ts';
import { api, expectQuietLog, startTestHub, writer } from '../../../support/hub.ts';
import { startReloading } from '../../../support/reload.ts';

const json = { headers: { accept: 'application/json' } };

const startDesk = (t: ExecutionContext, parameters: string[]) =>
  startTestHub(t, {
    connections: { api, desk: { type: 'dummy', parameters }, clock: { type: 'timer', pulses: [{ enabled: false }] } },
  });

const values: [line: string, text: string, json: string][] = [
  ['p,S,hello', 'hello', '"hello"'],
  ['p,S,', '', '""'],
  ['p,S,"quoted" \\ ü 🎚', '"quoted" \\ ü 🎚', '"\\"quoted\\" \\\\ ü 🎚"'],
  ['p,B,true', 'true', 'true'],
  ['p,B,false', 'false', 'false'],
  ['p,I,-42', '-42', '-42'],
  ['p,I,9007199254740991', '9007199254740991', '9007199254740991'],
  ['p,F,0.1', '0.1', '0.1'],
  ['p,F,1e21', '1e+21', '1e+21'],
];
for (const [line, text, jsonText] of values)
  test(`S-07: ${line} reads as text and as JSON`, async (t) => {
    const hub = await startDesk(t, [line]);
    const plain = await ask(t, hub.port, 'GET /parameters/desk/p');
    t.is(plain.status, 200);
    t.is(plain.headers['content-type'], 'text/plain; charset=utf-8');
    t.is(plain.headers['cache-control'], 'no-store');
    t.is(plain.text, text);
    const asJson = await ask(t, hub.port, 'GET /parameters/desk/p', json);
    t.is(asJson.headers['content-type'], 'application/json');
    t.is(asJson.text, jsonText);
  });

test('S-07: an earlier reading does not affect the next: another value, another type after a reload, and a removed parameter', async (t) => {
  const files = (line: string) => ({ connections: { api, desk: { type: 'dummy', parameters: [line] } } });
  const { hub, reload } = await startReloading(t, { 'flow.json5': files('p,F,0.5') });
  const read = async (options?: typeof json) => {
    const { status, text } = await ask(t, hub.port, 'GET /parameters/desk/p', options);
    return [status, text];
  };
  for (const value of [0.5, 2, 0.5]) {
    hub.write('desk/p', value, writer);
    for (let time = 0; time < 2; time++) t.deepEqual(await read(), [200, String(value)]);
  }
  t.deepEqual(await read(json), [200, '0.5']);
  await reload('flow.json5', files('p,S,on'));
  t.deepEqual(await read(), [200, 'on']);
  t.deepEqual(await read(json), [200, '"on"']);
  await reload('flow.json5', files('q,S,on'));
  t.deepEqual((await read())[0], 404);
});

const accepts: [accept: string, isJson: boolean][] = [
  ['*/*', false],
  ['text/html,application/xhtml+xml,*/*;q=0.8', false],
  ['application/json, text/plain, */*', true],
  ['text/plain, application/json;q=0.5', false],
  ['Application/JSON; q=0.9, text/plain;q=0.1', true],
  ['application/json;q=0', false],
  ['application/problem+json', true],
];
for (const [accept, isJson] of accepts)
  test(`S-07: Accept ${accept} is answered ${isJson ? 'JSON' : 'text'}`, async (t) => {
    const hub = await startDesk(t, ['p,S,x']);
    const { text } = await ask(t, hub.port, 'GET /parameters/desk/p', { headers: { accept } });
    t.is(text, isJson ? '"x"' : 'x');
  });

test('S-07: an unknown state is answered 503 with the reason State Unknown, until the first write', async (t) => {
  const hub = await startDesk(t, ['p,F']);
  const answer = await ask(t, hub.port, 'GET /parameters/desk/p');
  t.is(answer.status, 503);
  t.is(answer.reason, 'State Unknown');
  t.is(answer.text, 'desk/p: the state is unknown\n');
  await ask(t, hub.port, 'GET /update?parameter=desk/p&value=2');
  t.is((await ask(t, hub.port, 'GET /parameters/desk/p')).text, '2');
});

test('D-03: a trigger has no state, a write-only parameter reads as the last value written', async (t) => {
  const hub = await startDesk(t, ['go,T']);
  await ask(t, hub.port, 'GET /update?parameter=desk/go&value=1');
  t.is((await ask(t, hub.port, 'GET /parameters/desk/go')).status, 503);
  t.is((await ask(t, hub.port, 'GET /parameters/clock/pulse/1')).status, 503);
  t.is((await ask(t, hub.port, 'GET /parameters/clock/timer/1/start')).status, 503);
  await ask(t, hub.port, 'GET /update?parameter=clock/timer/1/start&value=70000');
  t.is((await ask(t, hub.port, 'GET /parameters/clock/timer/1/start')).text, '70000');
});

const paths: [id: string, path: string][] = [
  ['a/b/c', 'a/b/c'],
  ['a/b/c', 'a%2Fb%2fc'],
  ['Fader 1 über', 'Fader%201%20%C3%BCber'],
  ['100%', '100%25'],
  ['a?b#c', 'a%3Fb%23c'],
  ['a+b', 'a+b'],
  ['🎚/ключ', '%F0%9F%8E%9A/%D0%BA%D0%BB%D1%8E%D1%87'],
];
for (const [id, path] of paths)
  test(`D-01: ${id} is percent-encoded in the path as ${path}`, async (t) => {
    const hub = await startDesk(t, [`${id},S,here`]);
    t.is((await ask(t, hub.port, `GET /parameters/desk/${path}`)).text, 'here');
  });

test('D-13: a query after the address is not part of it', async (t) => {
  const hub = await startDesk(t, ['p,S,x']);
  t.is((await ask(t, hub.port, 'GET /parameters/desk/p?x=%zz')).text, 'x');
});

const missing = ['desk/q', 'desk/P', 'desk', 'desk/', 'desk//p', '', 'no/p', '../desk/p', 'desk/p/', 'desk/p%00'];
for (const path of missing)
  test(`D-13: /parameters/${path} is answered 404 with one sentence, or a problem object`, async (t) => {
    const hub = await startDesk(t, ['p,S,x']);
    const answer = await ask(t, hub.port, `GET /parameters/${path}`);
    t.is(answer.status, 404);
    t.regex(answer.text, /^[^\n]+: no parameter has this address\n$|^: no parameter/);
    const problem = await ask(t, hub.port, `GET /parameters/${path}`, json);
    t.is(problem.headers['content-type'], 'application/problem+json');
    t.like(JSON.parse(problem.text), {
      type: 'about:blank',
      title: 'Unknown parameter',
      status: 404,
      code: 'unknown-parameter',
    });
    expectQuietLog(t, hub);
  });

for (const path of ['desk/%', 'desk/%zz', 'desk/%C3', 'desk/%ED%A0%80'])
  test(`D-13: the malformed path /parameters/${path} is answered 400`, async (t) => {
    const hub = await startDesk(t, ['p,S,x']);
    const { status, text } = await ask(t, hub.port, `GET /parameters/${path}`);
    t.is(status, 400);
    t.regex(text, /expected a percent-encoded UTF-8 path/);
    expectQuietLog(t, hub);
  });

test('D-13: HEAD is answered like GET, without the body, and the connection goes on', async (t) => {
  const hub = await startDesk(t, ['p,S,hällo', 'q,S']);
  const wire = await openWire(t, hub.port);
  for (const [path, status, length] of [
    ['/parameters/desk/p', 200, '6'],
    ['/parameters/desk/q', 503, '29'],
    ['/parameters/desk/r', 404, '38'],
    ['/hub/', 200, undefined],
    ['/hub/health', 200, undefined],
    ['/hub/parameters', 200, undefined],
    ['/', 302, '0'],
    ['/update', 405, '29'],
  ] as const) {
    wire.send(request(`HEAD ${path}`));
    const answer = await wire.answer({ isHead: true });
    t.is(answer.status, status, path);
    if (length) t.is(answer.headers['content-length'], length, path);
  }
  wire.send(request('GET /parameters/desk/p'));
  t.is((await wire.answer()).text, 'hällo');
});

for (const [method, path, allow] of [
  ['POST', '/parameters/desk/p', 'GET, HEAD'],
  ['DELETE', '/parameters/desk/p', 'GET, HEAD'],
  ['PROPFIND', '/parameters/desk/p', 'GET, HEAD'],
  ['PUT', '/update', 'GET, POST'],
  ['OPTIONS', '/update', 'GET, POST'],
  ['POST', '/ws', 'GET, HEAD'],
  ['POST', '/hub/health', 'GET, HEAD'],
  ['POST', '/', 'GET, HEAD'],
] as const)
  test(`D-13: ${method} ${path} is answered 405 with Allow: ${allow}`, async (t) => {
    const hub = await startDesk(t, ['p,S,x']);
    const { status, headers, text } = await ask(t, hub.port, `${method} ${path}`, {
      body: 'ignored',
      headers: { accept: 'text/plain' },
    });
    t.is(status, 405);
    t.is(headers.allow, allow);
    t.is(text, `expected ${allow}, got ${method}\n`);
  });

test('D-13: simultaneous requests on one connection are answered in order', async (t) => {
  const hub = await startDesk(t, ['p,I,0']);
  const wire = await openWire(t, hub.port);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  wire.send(
    Buffer.concat([
      request('GET /parameters/desk/p'),
      request('POST /update', { headers: form, body: 'parameter=desk/p&value=1' }),
      request('GET /parameters/desk/p'),
      request('GET /update?parameter=desk/p&value=2'),
      request('GET /parameters/desk/p'),
    ]),
  );
  const texts: string[] = [];
  for (let count = 0; count < 5; count++) texts.push((await wire.answer()).text);
  t.deepEqual(texts, ['0', 'OK', '1', 'OK', '2']);
});
