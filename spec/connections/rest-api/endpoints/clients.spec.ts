// The list of WebSocket clients: what each has asked for, what it was sent, and who is slow.

import test, { type ExecutionContext } from 'ava';
import { firstValueFrom, timer } from 'rxjs';
import { filter, map, switchMap, take, timeout } from 'rxjs/operators';
import { deadlineMs, eventually } from '../../../support/deadline.ts';
import { ask, openWire, request, type Wire } from '../../../support/http.ts';
import { api, type HubUnderTest, startTestHub, writer } from '../../../support/hub.ts';
import { handshake, opcodes, openRawClient } from '../../../support/sockets/socket.ts';

interface Listed {
  readonly id: number;
  readonly protocol: string;
  readonly state: string;
  readonly lagMs: number;
  readonly unreadBytes: number;
  readonly sentBytes: number;
  readonly sentFrames: number;
  readonly receivedMessages: number;
}

const padding = 'ü'.repeat(2000);

const startDesk = (t: ExecutionContext) =>
  startTestHub(t, { connections: { api, desk: { type: 'dummy', parameters: ['a', 'b', 'level,F', 'go,T'] } } });

const list = async (t: ExecutionContext, hub: HubUnderTest): Promise<Listed[]> =>
  JSON.parse((await ask(t, hub.port, 'GET /hub/clients')).text).clients;

/** Asks again and again until the list is as wanted; ten seconds at most. */
const until = (t: ExecutionContext, hub: HubUnderTest, isWanted: (clients: Listed[]) => boolean): Promise<Listed[]> =>
  firstValueFrom(
    timer(0, 50).pipe(
      switchMap(() => list(t, hub)),
      filter(isWanted),
      take(1),
      timeout(deadlineMs),
    ),
  );

/** Opens a client of patchbay.v1 that sends these messages, shorter than 126 bytes, and reads nothing. */
async function openV1(t: ExecutionContext, port: number, messages: readonly object[]): Promise<Wire> {
  const wire = await openWire(t, port);
  wire.send(request('GET /ws', { headers: { ...handshake(), 'sec-websocket-protocol': 'patchbay.v1' } }));
  t.is((await wire.answer()).status, 101);
  for (const message of messages) {
    const text = Buffer.from(JSON.stringify(message));
    wire.send(Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), text]));
  }
  return wire;
}

test('a client has the name that it gives itself and that of its browser, and is disconnected by a manager', async (t) => {
  const hub = await startDesk(t);
  const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';
  const wire = await openWire(t, hub.port);
  wire.send(request('GET /ws?name=door%20tablet', { headers: { ...handshake(), 'user-agent': userAgent } }));
  t.is((await wire.answer()).status, 101);
  await openRawClient(t, hub.port, '?name=%3Cb%3E');
  const [named, other] = await until(t, hub, ({ length }) => length === 2);
  t.like(named, { name: 'door tablet', browser: 'Firefox on Linux' });
  t.false('name' in other! || 'browser' in other!, 'markup is no name, and a program no browser');

  const disconnect = (id: number) =>
    ask(t, hub.port, `POST /hub/clients/${id}`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ action: 'disconnect' }),
    });
  t.is((await disconnect(named!.id)).status, 200);
  await until(t, hub, ([one, ...others]) => one?.id === other!.id && others.length === 0);
  t.is((await disconnect(named!.id)).status, 404);
});

test('clients of both protocols are listed with their subscriptions', async (t) => {
  const hub = await startDesk(t);
  t.deepEqual(JSON.parse((await ask(t, hub.port, 'GET /hub/clients')).text), { count: 0, clients: [] });
  const plain = await openRawClient(t, hub.port, '?filter=%5Edesk%2F&filter=b');
  await openV1(t, hub.port, [
    { sub: 3, include: ['desk/**', { regex: 'x$' }], exclude: ['desk/b'], rate: 20, delivery: 'all' },
    { ping: 1 },
  ]);
  const clients = await until(t, hub, ([, v1]) => v1?.receivedMessages === 2 && v1.state === 'live');
  const since = clients.map((client) => (client as unknown as { since: string }).since);
  t.true(since.every((time) => Math.abs(Date.now() - Date.parse(time)) < 60_000));
  t.like(clients, [
    {
      id: 1,
      user: '',
      address: '127.0.0.1',
      protocol: 'plain',
      filters: ['^desk/', 'b'],
      state: 'live',
      lagMs: 0,
      unreadBytes: 0,
    },
    { id: 2, address: '127.0.0.1', protocol: 'patchbay.v1', lagMs: 0 },
  ]);
  t.deepEqual((clients[1] as unknown as { subscriptions: unknown }).subscriptions, [
    { id: 3, include: [{ regex: 'x$' }, 'desk/**'].sort(byText), exclude: ['desk/b'], rate: 20, delivery: 'all' },
  ]);
  plain.cut();
  t.deepEqual(
    (await until(t, hub, ({ length }) => length === 1)).map(({ id }) => id),
    [2],
  );
});

test('bytes sent to a plain client are counted exactly: notifications, a snapshot, errors', async (t) => {
  const hub = await startDesk(t);
  hub.write('desk/a', padding, writer);
  const clients = [await openRawClient(t, hub.port), await openRawClient(t, hub.port, '?snapshot=true')];
  clients[1]!.send(opcodes.text, 'nonsense');
  await until(t, hub, (listed) => listed[1]?.receivedMessages === 1);
  for (let count = 0; count < 10; count++) hub.write('desk/level', count / 4, writer);
  hub.write('desk/b', 'grün', writer);
  hub.write('desk/go', 1, writer);
  for (const [index, expected] of [12, 14].entries()) {
    const frames = [];
    while (frames.length < expected) frames.push(await clients[index]!.frames.next());
    const bytes = frames.reduce((sum, { payload }) => sum + payload.length, 0);
    t.like((await list(t, hub))[index], { sentFrames: expected, sentBytes: bytes });
  }
  hub.write('desk/b', 'late', writer);
  const late = await openRawClient(t, hub.port);
  await clients[0]!.frames.next();
  hub.write('desk/b', 'later', writer);
  const { payload } = await late.frames.next();
  const listed = (await list(t, hub)).map(({ sentFrames }) => sentFrames);
  t.deepEqual(listed, [14, 16, 1]);
  t.is((await list(t, hub))[2]!.sentBytes, payload.length);
});

test('bytes sent to a client of patchbay.v1 are counted exactly', async (t) => {
  const hub = await startDesk(t);
  const socket = new WebSocket(`ws://127.0.0.1:${hub.port}/ws`, 'patchbay.v1');
  t.teardown(() => socket.close());
  let frames = 0;
  let bytes = 0;
  const last = new Promise((resolve) => {
    socket.onmessage = ({ data }) => {
      frames++;
      bytes += Buffer.byteLength(data);
      const { end, pong } = JSON.parse(data);
      if (end === 1) {
        for (let count = 0; count < 20; count++) hub.write('desk/a', `${count} ${padding}`, writer);
        setImmediate(() => socket.send('{"ping":7}'));
      }
      if (pong === 7) resolve(undefined);
    };
  });
  socket.onopen = () => socket.send('{"sub":1,"delivery":"all"}');
  await last;
  t.like(await list(t, hub), [{ sentFrames: frames, sentBytes: bytes, receivedMessages: 2, state: 'live', lagMs: 0 }]);
  t.true(bytes > 20 * 4000);
});

for (const open of ['plain', 'patchbay.v1'])
  test(`a ${open} client that does not read is stalled and comes first; it is live once it has read`, async (t) => {
    const hub = await startDesk(t);
    await openRawClient(t, hub.port, '?filter=nothing');
    const slow = open === 'plain' ? await openRawClient(t, hub.port) : (await openV1(t, hub.port, [{ sub: 1 }])).socket;
    await until(t, hub, (clients) => clients.length === 2 && clients.every(({ state }) => state === 'live'));
    slow.pause();
    const stalled = firstValueFrom(
      timer(0, 5).pipe(
        map((count) => {
          for (let more = 0; more < 100; more++) hub.write('desk/a', `${count} ${more} ${padding}`, writer);
        }),
        filter((_, index) => index % 20 === 0),
        switchMap(() => list(t, hub)),
        filter(([first]) => first?.state === 'stalled'),
        timeout(deadlineMs),
      ),
    );
    const [first, second] = await stalled;
    t.like(first, { id: 2, protocol: open });
    t.true(first!.lagMs >= 1000);
    t.true(first!.unreadBytes > 0);
    t.like(second, { id: 1, state: 'live', lagMs: 0, unreadBytes: 0 });
    slow.resume();
    const clients = await until(t, hub, (all) => all.every(({ state }) => state === 'live'));
    t.deepEqual(
      clients.map(({ lagMs }) => lagMs),
      [0, 0],
    );
  });

function byText(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}

test('a browser that comes by ::1 is called localhost: in the list, in causes, in the log and in refusals', async (t) => {
  const hub = await startTestHub(t, {
    connections: {
      api: { ...api, bindIp: '::1', limits: { clientsPerAddress: 1 } },
      desk: { type: 'dummy', parameters: ['a'] },
    },
  });
  const url = `[::1]:${hub.port}`;
  const socket = new WebSocket(`ws://${url}/ws`);
  t.teardown(() => socket.close());
  await new Promise((resolve) => socket.addEventListener('open', resolve));
  socket.send('{"p":"desk/a","v":"x"}');
  const read = async (path: string) => (await fetch(`http://${url}${path}`)).text();
  await eventually(() => hub.find('desk/a')?.value === 'x', 'it is written');
  t.is(hub.find('desk/a')!.lastChange!.origin.name, 'api localhost');
  const [client] = JSON.parse(await read('/hub/clients')).clients;
  t.is(client.address, 'localhost');
  const second = new WebSocket(`ws://${url}/ws`);
  await new Promise((resolve) => second.addEventListener('error', resolve));
  await hub.logged(/^client localhost exceeded the limit clientsPerAddress/);
  t.false(hub.lines.some(({ message }) => message.includes('0000:')));
});
