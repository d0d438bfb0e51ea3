// The list of parameters, the health of the hub and what / is without a console (D-14).

import test, { type ExecutionContext } from 'ava';
import { ask, openWire, request } from '../../../support/http.ts';
import { api, expectQuietLog, startTestHub, writer } from '../../../support/hub.ts';
import { shared } from '../../../support/shared.ts';

const startDesk = (t: ExecutionContext, parameters: string[]) =>
  startTestHub(t, {
    connections: { api, desk: { type: 'dummy', parameters }, clock: { type: 'timer', pulses: [{ enabled: false }] } },
  });

test('D-14: /hub/parameters lists all parameters with state and metadata', async (t) => {
  const hub = await startDesk(t, ['lamp,B', 'level,F,0.5']);
  await ask(t, hub.port, 'GET /update?parameter=desk/lamp&value=true');
  const { headers, text } = await ask(t, hub.port, 'GET /hub/parameters');
  t.is(headers['content-type'], 'application/json');
  const list = JSON.parse(text);
  t.is(list.length, 2 + 32 + 1);
  t.like(list[0], {
    parameter: 'desk/lamp',
    type: 'B',
    access: 'read-write',
    state: 'known',
    value: true,
    revision: 2,
    origin: { kind: 'client', name: 'api 127.0.0.1' },
  });
  t.true(Math.abs(Date.parse(list[0].time) - Date.now()) < 60_000);
  t.like(list[1], { parameter: 'desk/level', value: 0.5, origin: { kind: 'connection', name: 'desk' } });
  t.deepEqual(list.at(-1), { parameter: 'clock/pulse/1', type: 'T', access: 'read-only', state: 'unknown' });
});

test('/hub/parameters?address=… returns only named and existing parameters', async (t) => {
  const hub = await startTestHub(t, {
    connections: { api, desk: { type: 'dummy', parameters: ['a b,B,true', 'c,T', 'd,F'] } },
  });
  const path = '/hub/parameters?address=desk/c&address=desk%2Fa%20b&address=desk/none&address=desk/c';
  const list = JSON.parse((await ask(t, hub.port, `GET ${path}`)).text);
  t.deepEqual(
    list.map(({ parameter, value }: { parameter: string; value: unknown }) => [parameter, value]),
    [
      ['desk/c', undefined],
      ['desk/a b', true],
    ],
  );
  t.deepEqual(JSON.parse((await ask(t, hub.port, 'GET /hub/parameters?address=desk/none')).text), []);
});

test('D-14: /hub/parameters?filter=… narrows the list; a bad pattern is answered 400', async (t) => {
  const hub = await startDesk(t, ['lamp,B', 'level,F,0.5']);
  const list = async (query: string) =>
    JSON.parse((await ask(t, hub.port, `GET /hub/parameters${query}`)).text).map(
      ({ parameter }: { parameter: string }) => parameter,
    );
  t.deepEqual(await list('?filter=^desk/l'), ['desk/lamp', 'desk/level']);
  t.deepEqual(await list('?filter=evel&filter=pulse'), ['desk/level', 'clock/pulse/1']);
  t.deepEqual(await list('?filter=nothing'), []);
  t.deepEqual(await list('?limit=1'), ['desk/lamp']);
  t.deepEqual(await list('?filter=ev&limit=1'), ['desk/level']);
  t.deepEqual(await list('?filter=^desk&limit=1000000'), ['desk/lamp', 'desk/level']);
  const bad = await ask(t, hub.port, 'GET /hub/parameters?filter=%28', { headers: { accept: 'text/plain' } });
  t.is(bad.status, 400);
  t.regex(bad.text, /^filter: expected a regular expression, got "\("/);
  const none = await ask(t, hub.port, 'GET /hub/parameters?limit=0', { headers: { accept: 'text/plain' } });
  t.is(none.status, 400);
  t.regex(none.text, /^limit: expected an integer 1..1000000, got "0"/);
  expectQuietLog(t, hub);
});

/** A list that the buffers of the kernels do not hold. */
const largeDesk = shared(async (t) => {
  const hub = await startDesk(
    t,
    Array.from({ length: 1000 }, (_, index) => `p${index}`),
  );
  for (let index = 0; index < 1000; index++) hub.write(`desk/p${index}`, `${index} ${'x'.repeat(16_000)}`, writer);
  return hub;
});

test('D-14: /hub/parameters is complete at any length, also for a late reader', async (t) => {
  const hub = await largeDesk();
  const wire = await openWire(t, hub.port);
  wire.socket.pause();
  wire.send(request('GET /hub/parameters?filter=^desk'));
  t.is((await ask(t, hub.port, 'GET /parameters/desk/p0')).status, 200);
  wire.socket.resume();
  const list = JSON.parse((await wire.answer()).text);
  t.is(list.length, 1000);
  t.true(list[999].value.startsWith('999 x'));
});

test('D-14: a client that leaves while the list is sent disturbs nobody', async (t) => {
  const hub = await largeDesk();
  const wire = await openWire(t, hub.port);
  wire.socket.pause();
  wire.send(request('GET /hub/parameters'));
  t.is((await ask(t, hub.port, 'GET /parameters/desk/p0')).status, 200);
  wire.socket.destroy();
  t.is((await ask(t, hub.port, 'GET /parameters/desk/p1')).status, 200);
  expectQuietLog(t, hub);
});

test('D-14: /hub/health shows the state of the hub and its connections', async (t) => {
  const hub = await startTestHub(t, {
    connections: { api, off: { type: 'timer', enabled: false, description: 'for later' } },
  });
  const { headers, text } = await ask(t, hub.port, 'GET /hub/health');
  t.is(headers['content-type'], 'application/json');
  t.like(JSON.parse(text), { status: 'ok', version: hub.version, epoch: hub.epoch, revision: 0 });
  t.deepEqual(JSON.parse(text).log, { state: 'running', reason: '', lost: 0 });
  t.like(JSON.parse(text).connections[0], { id: 'api', type: 'rest-api', state: 'running', reason: '' });
  t.like(JSON.parse(text).connections[1], { id: 'off', state: 'disabled', description: 'for later' });
});

test('/hub/health/live is 200 immediately, /hub/health/ready while no connection has failed', async (t) => {
  const hub = await startTestHub(t, {
    connections: { api, xml: { type: 'xml-file-output', filename: 'x.xml', template: '<x a="$a"></y>' } },
  });
  t.is((await ask(t, hub.port, 'GET /hub/health/live')).text, '{"status":"live"}\n');
  const { status, text } = await ask(t, hub.port, 'GET /hub/health/ready');
  t.is(status, 503);
  t.regex(JSON.parse(text).detail, /^not all connections are running: connection "xml" has failed: ./);
  hub.control('xml', 'stop', writer);
  t.is((await ask(t, hub.port, 'GET /hub/health/ready')).text, '{"status":"ready"}\n');
});

test('D-14: without the console / redirects to /hub/, the list of endpoints', async (t) => {
  const hub = await startTestHub(t, { connections: { api: { ...api, console: false } } });
  for (const path of ['/', '/hub']) {
    const { status, headers } = await ask(t, hub.port, `GET ${path}`);
    t.is(status, 302);
    t.is(headers.location, '/hub/');
  }
  const { status, headers, text } = await ask(t, hub.port, 'GET /hub/');
  t.is(status, 200);
  t.is(headers['content-type'], 'text/plain; charset=utf-8');
  for (const path of ['/parameters/', '/update?', '/ws', '/hub/parameters', '/hub/health']) t.true(text.includes(path));
  for (const path of ['/hub/nothing', '/nothing', '/parameters', '/ws/', '/update/x'])
    t.is((await ask(t, hub.port, `GET ${path}`)).status, 404, path);
});
