// What supervisors and load balancers ask: anybody may, also where a hub has users, and a hub that does not do its work is not ready.

import test from 'ava';
import { ask, openWire, request } from '../../../support/http.ts';
import { api, startTestHub } from '../../../support/hub.ts';
import { openClient } from '../../../support/sockets/socket.ts';
import { freePort } from '../../../support/system/port.ts';

test('a supervisor needs no credentials; only managers see failed connections', async (t) => {
  const xml = { type: 'xml-file-output', filename: 'x.xml', template: '<x a="$a"></y>' };
  const authorization = 'Bearer YQ==';
  for (const settings of [
    { token: 'YQ==' },
    { users: { ann: { token: 'YQ==', read: ['**'], manage: true }, bob: { token: 'Yg==', read: ['**'] } } },
  ]) {
    const hub = await startTestHub(t, { connections: { api: { ...api, ...settings }, xml } });
    const readiness = async (headers: Record<string, string>) => {
      const { status, text } = await ask(t, hub.port, 'GET /hub/health/ready', { headers });
      t.is(status, 503, text);
      return JSON.parse(text).detail as string;
    };
    t.is((await ask(t, hub.port, 'GET /hub/health/live')).text, '{"status":"live"}\n');
    t.is(await readiness({}), 'not all connections are running: 1 connection failed');
    t.regex(await readiness({ authorization }), /connection "xml" has failed: ./);
    t.is((await ask(t, hub.port, 'GET /hub/health')).status, 401);
  }
});

test('a stopping hub is alive, and not ready', async (t) => {
  const hub = await startTestHub(t, { connections: { api } });
  const wire = await openWire(t, hub.port);
  await openClient(t, hub.port); // the hub waits until it has heard that
  for (const path of ['/hub/health/ready', '/hub/health/live']) {
    wire.send(request(`GET ${path}`));
    t.is((await wire.answer()).status, 200);
  }
  wire.send(request('GET /hub/health/ready'));
  const stopped = hub.stop();
  const { status, text } = await wire.answer();
  t.is(status, 503);
  t.is(JSON.parse(text).detail, 'the hub is shutting down');
  await stopped;
});

test('a hub of a pair that does not know whether another one runs is not ready', async (t) => {
  const nats = {
    type: 'nats',
    servers: [`nats://127.0.0.1:${await freePort()}`],
    domain: 'd',
    hub: 'west',
    pair: true,
  };
  const hub = await startTestHub(t, { connections: { api, nats, desk: { type: 'dummy', parameters: ['lamp,B'] } } });
  const { status, text } = await ask(t, hub.port, 'GET /hub/health/ready');
  t.is(status, 503);
  t.regex(JSON.parse(text).detail, /^neither hub of the pair runs the connections and rules/);
  t.is((await ask(t, hub.port, 'GET /hub/health/live')).status, 200);
});
