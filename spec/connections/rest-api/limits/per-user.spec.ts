// One user may have so many sockets, subscriptions, requests, writes and unread bytes, wherever it comes from. Others do not notice.

import test, { type ExecutionContext } from 'ava';
import { createRates, shareOf } from '../../../../lib/connections/rest-api/limits/rates.ts';
import { SubscriptionShares } from '../../../../lib/connections/rest-api/sockets/user-shares.ts';
import { eventually, within } from '../../../support/deadline.ts';
import { ask } from '../../../support/http.ts';
import { api, expectHits, type HubUnderTest, startTestHub, writer } from '../../../support/hub.ts';
import { handshake, opcodes, openClient, openRawClient } from '../../../support/sockets/socket.ts';

const ann = { authorization: 'Bearer ann' };
const bob = { authorization: 'Bearer bob' };
const all = { read: ['**'], write: ['**'] };
const start = (t: ExecutionContext, limits: object): Promise<HubUnderTest> =>
  startTestHub(t, {
    connections: {
      api: { ...api, limits, users: { ann: { token: 'ann', ...all }, bob: { token: 'bob', ...all } } },
      desk: { type: 'dummy', parameters: ['i,I,7', 's,S,x'] },
    },
  });
const v1 = (who: object) => ({ ...who, 'sec-websocket-protocol': 'patchbay.v1' });

test('a share belongs to a user, or to the network of anonymous clients', (t) => {
  t.is(shareOf({ name: 'ann' }, '10.0.0.1'), 'user ann');
  t.is(shareOf({ name: '' }, '2001:0db8:0001:0002:0003:0004:0005:0006'), '2001:0db8:0001:0002::/64');
});

test('a user has at most clientsPerUser sockets, until one leaves; others are admitted', async (t) => {
  const hub = await start(t, { clientsPerUser: 2 });
  const first = await openClient(t, hub.port, '', ann);
  await openClient(t, hub.port, '', ann);
  const refused = await ask(t, hub.port, 'GET /ws', { headers: { ...handshake(), ...ann } });
  t.deepEqual(
    [refused.status, refused.text],
    [503, 'expected at most 2 WebSocket clients of user ann: all slots are taken\n'],
  );
  for (let count = 0; count < 2; count++) await openClient(t, hub.port, '', bob);
  first.close();
  await first.closed();
  await openClient(t, hub.port, '', ann);
  expectHits(t, hub, ['clientsPerUser']);
});

test('the clients of a user share limits of subscriptions and steps; removed ones no longer count', async (t) => {
  const hub = await start(t, { subscriptionsPerUser: 3, stepsPerUser: 50 });
  const open = async (who: object) => {
    const client = await openClient(t, hub.port, '', v1(who));
    const of = async (sub: number, include: unknown[] = ['desk/i']) => {
      client.send({ sub, include });
      const wanted = (frame: object) => 'error' in frame || 'sub' in frame;
      return (await client.frames.until(wanted as never)).at(-1) as { error?: string };
    };
    return { ...client, of };
  };
  const [one, other, third] = [await open(ann), await open(ann), await open(bob)];
  for (const [client, sub] of [
    [one, 1],
    [one, 2],
    [other, 1],
    [third, 1],
    [one, 2],
  ] as const) // prettier-ignore
    t.is((await client.of(sub)).error, undefined);
  const tooMany = 'sub: expected at most 3 subscriptions across all clients of user ann, got more';
  t.is((await other.of(2)).error, tooMany);
  t.is((await third.of(2)).error, undefined);
  const tooLong = 'sub: expected at most patterns of 50 steps across all clients of user ann, got more';
  t.is((await one.of(2, [{ regex: '(a|b|c){20}x' }])).error, tooLong);
  one.close();
  await one.closed();
  await eventually(async () => (await other.of(2)).error === undefined);
  expectHits(t, hub, []);
});

test('the patterns of all subscriptions of a user share a limit of characters, regardless of their cost', async (t) => {
  const hub = await start(t, { patternTextPerUser: 65_536 });
  const open = (who: object) => openClient(t, hub.port, '', v1(who));
  const [one, other] = [await open(ann), await open(ann)];
  const addresses = (sub: number) => Array.from({ length: 300 }, (_, n) => `desk/${'x'.repeat(60)}/${sub}/${n}`);
  const answerOf = async (client: typeof one, sub: number) => {
    client.send({ sub, include: addresses(sub) });
    return (await client.frames.until((frame) => 'error' in frame || 'mode' in frame)).at(-1);
  };
  const error = 'sub: expected at most patterns of 65536 characters across all clients of user ann, got more';
  t.like(await answerOf(one, 1), { sub: 1, mode: 'snapshot' });
  t.like(await answerOf(other, 2), { sub: 2, mode: 'snapshot' });
  t.like(await answerOf(other, 3), { sub: 3, error });
  t.like(await answerOf(await open(bob), 3), { sub: 3, mode: 'snapshot' });
  one.send({ unsub: 1 });
  await eventually(async () => (await answerOf(other, 3))?.error === undefined);
});

test('subscriptions that end are released exactly', (t) => {
  const shares = new SubscriptionShares({ subscriptionsPerUser: 2, stepsPerUser: 10, patternTextPerUser: 100 });
  const nothing = { subscriptions: 0, steps: 0, text: 0 };
  for (let times = 0; times < 1000; times++) {
    shares.change('user ann', nothing, { subscriptions: 2, steps: 0.3, text: 60 });
    t.throws(() => shares.change('user ann', nothing, { subscriptions: 1, steps: 0, text: 0 }), {
      message: /at most 2/,
    });
    shares.change('user ann', { subscriptions: 2, steps: 0.3, text: 60 }, nothing);
  }
});

test('requestsPerUser: more are answered 429 with Retry-After, those of others 200', async (t) => {
  const hub = await start(t, { requestsPerUser: 3 });
  const read = (headers: Record<string, string>) => ask(t, hub.port, 'GET /parameters/desk/i', { headers });
  const answers = await Promise.all(Array.from({ length: 60 }, () => read(ann)));
  const refused = answers.filter(({ status }) => status === 429);
  t.true(refused.length > 0);
  t.is(refused[0]!.headers['retry-after'], '1');
  t.is(refused[0]!.text, 'expected at most 3 requests per second from user ann, got more\n');
  t.is((await read(bob)).status, 200);
  t.true(hub.lines.some(({ message }) => /exceeded the limit requestsPerUser/.test(message)));
});

test('requestsPerUser: refused requests count for their address', async (t) => {
  const hub = await start(t, { requestsPerUser: 3 });
  for (const [path, headers, status] of [
    ['/parameters/desk/i', { authorization: 'Bearer nobody' }, 401],
    ['/hub/users', ann, 403],
  ] as const) {
    const read = () => ask(t, hub.port, `GET ${path}`, { headers });
    const statuses = (await Promise.all(Array.from({ length: 15 }, read))).map((answer) => answer.status);
    t.true(statuses.includes(429), `${path}: ${statuses}`);
    t.true(statuses.every((one) => one === 429 || one === status));
  }
});

test('a load balancer that checks the health is neither refused nor counted, regardless of other requests from its address', async (t) => {
  const hub = await start(t, { requestsPerUser: 3 });
  const statusOf = async (line: string, headers = {}) => (await ask(t, hub.port, line, { headers })).status;
  for (let count = 0; count < 10; count++)
    for (const probe of ['live', 'ready'])
      for (const method of ['GET', 'HEAD']) t.is(await statusOf(`${method} /hub/health/${probe}`), 200);
  t.is(await statusOf('GET /parameters/desk/i', ann), 200);
  for (let count = 0; count < 10; count++) t.is(await statusOf('GET /hub/health/ready', ann), 200);
  t.is(await statusOf('GET /parameters/desk/i', ann), 200);
  await eventually(async () => (await statusOf('GET /parameters/desk/i', ann)) === 429);
  t.is(await statusOf('GET /hub/health/live', ann), 200);
});

test('writes per second of a user and of a client: the limit holds in virtual time, and is off by default', (t) => {
  let now = 0;
  const rates = createRates({ requestsPerUser: 0, writesPerUser: 100, writesPerClient: 60 }, () => now);
  t.is(rates.request, undefined);
  t.is(createRates({ requestsPerUser: 5, writesPerUser: 0, writesPerClient: 0 }).writes, undefined);
  const taken = (id: number | undefined, share = 'user ann') => {
    let count = 0;
    while (rates.writes!({ share, id }, 1) === undefined) count++;
    return count;
  };
  t.deepEqual([taken(1), taken(2), taken(undefined)], [60, 40, 0]);
  t.is(taken(9, 'user bob'), 60);
  now += 500;
  t.deepEqual([taken(1), taken(2)], [30, 20]);
  now += 10_000;
  t.is(rates.writes!({ share: 'user ann', id: 3 }, 1000), undefined, 'a turn that is larger needs all of them');
  t.is(rates.writes!({ share: 'user ann', id: 3 }, 1)?.limit, 'writesPerUser');
  now += 5000;
  t.is(rates.writes!({ share: 'user ann', id: undefined }, 1)?.code, 'too-many-requests', 'and is paid for');
});

test('a client that writes too much gets an error for each value, by HTTP, plain and v1, and nothing is written', async (t) => {
  const hub = await start(t, { writesPerUser: 1 });
  const message = 'expected at most 1 writes per second from user ann, got more';
  const fast = await openClient(t, hub.port, '', v1(ann));
  fast.send({ set: Array.from({ length: 3600 }, (_, index) => ['desk/i', index]), ack: 1 });
  t.deepEqual((await fast.frames.until((frame) => 'ack' in frame)).at(-1), { ack: 1, errors: [] } as never);
  t.is(hub.find('desk/i')!.value, 3599, 'one turn may have more, and then nothing comes for an hour');
  fast.send({
    set: [
      ['desk/i', 1],
      ['desk/i', 2],
    ],
    ack: 2,
  }); // prettier-ignore
  const errors = [
    ['desk/i', message],
    ['desk/i', message],
  ]; // prettier-ignore
  t.deepEqual((await fast.frames.until((frame) => 'ack' in frame)).at(-1), { ack: 2, errors } as never);
  const plain = await openClient(t, hub.port, '', ann);
  plain.send({ p: 'desk/i', v: 1 });
  t.deepEqual(await plain.next(), { error: message, p: 'desk/i' });
  const answer = await ask(t, hub.port, 'GET /update?parameter=desk/i&value=1', { headers: ann });
  t.deepEqual([answer.status, answer.text], [429, `${message}\n`]);
  const waitSeconds = Number(answer.headers['retry-after']);
  t.true(waitSeconds > 3000 && waitSeconds <= 3600, `wait for ${waitSeconds} s`);
  t.is((await ask(t, hub.port, 'GET /update?parameter=desk/i&value=5', { headers: bob })).status, 200);
  t.is(hub.find('desk/i')!.value, 5);
});

test('of a user whose clients do not read, the heaviest clients are closed with 4001; reading clients stay', async (t) => {
  const hub = await start(t, { unreadBytesPerUser: 1024 * 1024 });
  const idle = await Promise.all(Array.from({ length: 6 }, () => openRawClient(t, hub.port, '', undefined, ann)));
  const reading = await openClient(t, hub.port, '', ann);
  const other = await openRawClient(t, hub.port, '', undefined, bob);
  for (const client of [...idle, other]) client.pause();
  let value = 0;
  const isOver = () => hub.lines.some(({ message }) => /exceeded the limit unreadBytesPerUser/.test(message));
  await eventually(() => {
    for (let count = 0; count < 20; count++) hub.write('desk/s', `${++value}`.padStart(20_000, 'x'), writer);
    return isOver();
  });
  hub.write('desk/s', 'last', writer);
  await reading.frames.until(({ v }) => v === 'last');
  const codes: [isOther: boolean, code: number][] = [];
  for (const client of [...idle, other]) {
    client.frames.listen(({ opcode, payload }) => {
      if (opcode === opcodes.close) codes.push([client === other, payload.readUInt16BE()]);
    });
    client.resume();
  }
  await within(Promise.race(idle.map((client) => client.closed())), 'the end of one that does not read');
  // A client that took the close frame too late, on a slow machine, was cut off before.
  t.true(codes.every(([isOther, code]) => !isOther && code === 4001));
  t.true(reading.isOpen);
});
