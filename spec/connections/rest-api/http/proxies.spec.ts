// The hub behind HAProxy, with the configuration that the README of the REST API has, and behind nghttpx.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../../support/deadline.ts';
import { createFolder } from '../../../support/folder.ts';
import { ask, openWire, request } from '../../../support/http.ts';
import { api, type HubUnderTest, startTestHub, writer } from '../../../support/hub.ts';
import { needs } from '../../../support/programs.ts';
import { handshake, openClient } from '../../../support/sockets/socket.ts';
import { freePort } from '../../../support/system/port.ts';
import { printed, runProxy } from '../../../support/system/proxy.ts';

needs('haproxy', 'nghttpx');

const host = { host: 'hub.example' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const users = { ann: { password: 'geheim', read: ['**'], write: ['**'] } };
const settings = { trustedProxies: ['127.0.0.1'], allowedHosts: ['hub.example'] };
const desk = { type: 'dummy', parameters: ['i,I,0', 'text'] };

interface Behind {
  readonly hub: HubUnderTest;
  readonly port: number;
}

const proxies: Record<string, (t: ExecutionContext, hubPort: number) => Promise<number>> = {
  async HAProxy(t, hubPort) {
    const port = await freePort();
    const folder = await createFolder(t);
    const file = join(folder, 'haproxy.cfg');
    const replaced = [
      ['bind :80', `bind 127.0.0.1:${port}`],
      ['127.0.0.1:17011', `127.0.0.1:${hubPort}`],
    ] as const;
    await writeFile(file, await printed(t, 'haproxy', replaced));
    await runProxy(t, port, 'haproxy', ['-db', '-f', file]);
    return port;
  },
  async nghttpx(t, hubPort) {
    const port = await freePort();
    await runProxy(t, port, 'nghttpx', [
      ...[`--frontend=127.0.0.1,${port};no-tls`, `--backend=127.0.0.1,${hubPort}`, '--conf=/dev/null', '--workers=1'],
      ...['--add-x-forwarded-for', '--strip-incoming-forwarded', '--no-ocsp', '--single-process'],
    ]);
    return port;
  },
};

for (const [name, run] of Object.entries(proxies)) {
  const start = async (t: ExecutionContext, further: object = {}): Promise<Behind> => {
    const hub = await startTestHub(t, { connections: { api: { ...api, ...settings, ...further }, desk } });
    const port = await run(t, hub.port);
    const isServed = async () => (await ask(t, port, 'GET /hub/health/live', { headers: host })).status === 200;
    await eventually(isServed, `${name} takes the hub for alive`);
    return { hub, port };
  };

  test(`behind ${name} HTTP and both protocols of the WebSocket work, and the hub knows the address of a client`, async (t) => {
    const { hub, port } = await start(t);
    const address = '127.0.0.77';
    for (const headers of [{}, { 'x-forwarded-for': '198.51.100.1' }, { forwarded: 'for=198.51.100.1;proto=https' }]) {
      hub.write('desk/text', 'x', writer);
      const wire = await openWire(t, port, undefined, {}, address);
      wire.send(request('GET /update?parameter=desk/text&value=y', { headers: { ...host, ...headers } }));
      t.is((await wire.answer()).text, 'OK');
      t.is(hub.find('desk/text')!.lastChange!.origin.name, `api ${address}`, JSON.stringify(headers));
    }
    for (const headers of [{}, { expect: '100-Continue' }, { expect: '100-continue' }]) {
      const wire = await openWire(t, port);
      const body = 'parameter=desk/i&value=3';
      wire.send(
        request('POST /update', { headers: { ...host, ...form, ...headers, 'content-length': `${body.length}` } }),
      );
      if ('expect' in headers) t.is((await wire.answer()).status, 100);
      wire.send(body);
      t.is((await wire.answer()).text, 'OK');
    }
    const plain = await openClient(t, port, '', host);
    plain.send({ p: 'desk/i', v: 4 });
    t.deepEqual(await plain.next(), { p: 'desk/i', v: '4' });
    const v1 = await openClient(t, port, '', { ...host, 'sec-websocket-protocol': 'foo, patchbay.v1' });
    t.true('hello' in (await v1.next()));
  });

  test(`behind ${name} pages of the hub have its scheme, and the cookie follows it`, async (t) => {
    const { port } = await start(t, { users });
    const named = { host: `hub.example:${port}` };
    const signIn = (origin: string) =>
      ask(t, port, 'POST /hub/sign-in', {
        headers: { ...named, 'content-type': 'application/json', origin, 'x-forwarded-proto': 'https' },
        body: '{"user":"ann","password":"geheim"}',
      });
    t.is((await signIn(`https://hub.example:${port}`)).status, 403);
    const { status, headers } = await signIn(`http://hub.example:${port}`);
    t.is(status, 200);
    t.regex(headers['set-cookie']!, /^patchbay-\d+=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
    const cookie = headers['set-cookie']!.split(';')[0]!;
    t.is((await ask(t, port, 'GET /parameters/desk/i', { headers: { ...named, cookie } })).status, 200);
    const upgrade = { ...named, ...handshake(), cookie };
    for (const [origin, expected] of [
      [`http://hub.example:${port}`, 101],
      [`https://hub.example:${port}`, 403],
    ] as const) {
      const wire = await openWire(t, port);
      wire.send(request('GET /ws', { headers: { ...upgrade, origin } }));
      t.is((await wire.answer()).status, expected, origin);
    }
  });

  test(`behind ${name} a request with a trailer has no effect, in any form`, async (t) => {
    const { hub, port } = await start(t);
    const body = 'parameter=desk/i&value=9';
    const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n`;
    for (const [announced, now, later] of [
      ['', `${chunks}X: y\r\n\r\n`, ''],
      ['Trailer: X\r\n', `${chunks}X: y\r\n\r\n`, ''],
      ['', chunks, 'X: y\r\n\r\n'],
      ['', `${chunks}X: `, 'y\r\n\r\n'],
      ['TE: trailers\r\n', chunks.slice(0, -3), '0\r\nX: y\r\nZ: z\r\n\r\n'],
    ] as const) {
      const wire = await openWire(t, port);
      const type = 'Content-Type: application/x-www-form-urlencoded\r\n';
      wire.send(
        `POST /update HTTP/1.1\r\nHost: hub.example\r\n${type}${announced}Transfer-Encoding: chunked\r\n\r\n${now}`,
      );
      if (later !== '') {
        for (let count = 0; count < 3; count++) await ask(t, port, 'GET /hub/health/live', { headers: host }); // so that it comes by itself
        wire.send(later);
      }
      t.true((await wire.answer()).status >= 400, `${announced} ${now} ${later}`);
      wire.socket.destroy();
      t.is(hub.find('desk/i')!.value, 0);
    }
    const wire = await openWire(t, port);
    wire.send(
      request('POST /update', { headers: { ...host, ...form, 'transfer-encoding': 'chunked' }, body: `${chunks}\r\n` }),
    );
    t.is((await wire.answer()).text, 'OK');
    t.is(hub.find('desk/i')!.value, 9);
  });
}

test('without the line of the README HAProxy checks by HTTP/1.0, and considers the hub dead', async (t) => {
  const hub = await startTestHub(t, { connections: { api: { ...api, ...settings }, desk } });
  const port = await freePort();
  const folder = await createFolder(t);
  const file = join(folder, 'haproxy.cfg');
  const check = '  http-check send meth GET uri /hub/health/ready ver HTTP/1.1 hdr Host localhost\n';
  const replaced = [
    ['bind :80', `bind 127.0.0.1:${port}`],
    ['127.0.0.1:17011', `127.0.0.1:${hub.port}`],
    [check, ''],
  ] as const; // prettier-ignore
  await writeFile(file, await printed(t, 'haproxy', replaced));
  await runProxy(t, port, 'haproxy', ['-db', '-f', file]);
  const isRefused = async () => (await ask(t, port, 'GET /hub/health/live', { headers: host })).status === 503;
  await eventually(isRefused, 'HAProxy takes the hub for dead');
  t.pass();
});
