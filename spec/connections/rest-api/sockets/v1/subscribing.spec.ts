// What a subscription of patchbay.v1 is sent (docs/protocol.md "Subscribing", "What the hub sends").

import test, { type ExecutionContext } from 'ava';
import { api, expectQuietLog, portsOf, startTestHub, writer } from '../../../../support/hub.ts';
import { type Message, openV1 } from '../../../../support/sockets/v1.ts';

const parameters = ['lamp,B', 'level,F', 'name,S', 'count,I', 'go,T', 'stop,T'];
const startDesk = (t: ExecutionContext, settings = {}) =>
  startTestHub(t, {
    connections: {
      api: { ...api, ...settings },
      desk: { type: 'dummy', parameters },
      other: { type: 'dummy', parameters },
    },
  });

const definitions = (messages: readonly Message[]) => messages.flatMap(({ def = [] }) => def);

test('docs/protocol.md: the hub greets with its epoch, its name and its limits', async (t) => {
  const hub = await startDesk(t);
  const client = await openV1(t, hub.port);
  const other = await openV1(t, hub.port);
  t.truthy(client.epoch);
  t.is(client.epoch, other.epoch);
});

test('docs/protocol.md: the answer, the definitions, the values and the end, in this order', async (t) => {
  const hub = await startDesk(t);
  hub.write('desk/lamp', true, writer);
  hub.write('desk/level', -3.5, writer);
  hub.write('desk/name', 'a "b"\n', writer);
  const client = await openV1(t, hub.port);
  const messages = await client.subscribe({ sub: 1, include: ['desk/**'] });
  t.deepEqual(messages[0], { sub: 1, mode: 'snapshot', rate: 0, delivery: 'latest' });
  t.deepEqual(messages.at(-1), { end: 1, rev: 3 });
  const kinds = messages.slice(1, -1).map((message) => Object.keys(message)[0]);
  t.deepEqual([...new Set(kinds)], ['def', 'set']);
  t.deepEqual(
    definitions(messages).map(([, ...rest]) => rest),
    [
      ['desk/lamp', 'B', 'rw'],
      ['desk/level', 'F', 'rw'],
      ['desk/name', 'S', 'rw'],
      ['desk/count', 'I', 'rw'],
      ['desk/go', 'T', 'rw'],
      ['desk/stop', 'T', 'rw'],
    ],
  );
  t.is(new Set(definitions(messages).map(([id]) => id)).size, 6);
  t.deepEqual(
    [...client.picture.values],
    [
      ['desk/lamp', true],
      ['desk/level', -3.5],
      ['desk/name', 'a "b"\n'],
    ],
  );
  hub.write('desk/count', 7, writer);
  hub.write('desk/go', 1, writer);
  hub.write('desk/go', 1, writer);
  await client.until(({ fired }) => fired !== undefined);
  t.is(client.picture.values.get('desk/count'), 7);
  t.is(client.picture.fires.get('desk/go'), 2);
  t.is(client.picture.rev, 6);
  t.deepEqual(client.picture.faults, []);
  expectQuietLog(t, hub);
});

test('docs/protocol.md: all has every change and every fire in the original order', async (t) => {
  const hub = await startDesk(t);
  const client = await openV1(t, hub.port);
  await client.subscribe({ sub: 1, include: ['desk/*'], delivery: 'all' });
  const expected: (string | number)[] = [];
  for (let count = 1; count <= 3000; count++) {
    const isFire = count % 7 === 0 || count % 11 === 0;
    hub.write(isFire ? 'desk/go' : 'desk/count', count, writer);
    expected.push(isFire ? 'fire' : count);
  }
  hub.write('desk/lamp', true, writer);
  const last = ({ set }: Message) => set?.at(-1)?.[1] === true;
  const heard = (await client.until(last)).flatMap(({ set = [], fired = [] }) => [
    ...set.map(([, value]) => value),
    ...fired.map(() => 'fire'),
  ]);
  t.deepEqual(heard, [...expected, true]);
  t.is(client.picture.rev, hub.revision);
});

test('docs/protocol.md: latest has the newest value once per flush, and every fire', async (t) => {
  const hub = await startDesk(t);
  const client = await openV1(t, hub.port);
  await client.subscribe({ sub: 1, include: ['desk/*'] });
  for (let count = 1; count <= 300; count++) {
    hub.write('desk/count', count, writer);
    if (count % 3 === 0) hub.write('desk/go', 1, writer);
  }
  await client.until(({ fired }) => fired !== undefined);
  t.deepEqual(client.picture.sequences.get('desk/count'), [300]);
  t.is(client.picture.fires.get('desk/go'), 100);
  t.is(client.picture.rev, hub.revision);
});

test('docs/protocol.md: a turn arrives as one: the values of a message, and the results of rules', async (t) => {
  const hub = await startTestHub(t, {
    connections: { api, desk: { type: 'dummy', parameters: ['a,I', 'b,I', 'sum,I'] } },
    rules: [
      {
        name: 'sum',
        from: { a: 'desk/a', b: 'desk/b' },
        map: 'a + b',
        to: 'desk/sum',
      },
    ],
  });
  const client = await openV1(t, hub.port);
  await client.subscribe({ sub: 1, delivery: 'all' });
  client.send({
    set: [
      ['desk/a', 1],
      ['desk/b', 2],
    ],
    ack: 1,
  });
  const messages = await client.until(({ set }) => set !== undefined);
  const { picture } = client;
  t.deepEqual(
    messages.at(-1)!.set!.map(([id, value]) => [picture.addresses.get(id), value]),
    [
      ['desk/a', 1],
      ['desk/b', 2],
      ['desk/sum', 3],
    ],
  );
  t.is(messages.at(-1)!.rev, 3);
});

test('docs/protocol.md: a parameter of several subscriptions is sent once, for the liveliest', async (t) => {
  const hub = await startDesk(t);
  const client = await openV1(t, hub.port);
  await client.subscribe({ sub: 1, include: ['desk/*'], rate: 0.1 });
  await client.subscribe({ sub: 2, include: ['desk/count'], delivery: 'all' });
  await client.subscribe({ sub: 3, include: ['*/count', '*/level'], rate: 500 });
  for (let count = 1; count <= 50; count++) hub.write('desk/count', count, writer);
  hub.write('desk/level', 1, writer);
  await client.until(({ set }) => set?.some(([, value]) => value === 1 && set.length === 1) ?? false);
  t.deepEqual(
    client.picture.sequences.get('desk/count'),
    Array.from({ length: 50 }, (_, index) => index + 1),
  );
  t.deepEqual(client.picture.sequences.get('desk/level'), [1]);
  client.send({ unsub: 2 });
  await client.until(({ unsub }) => unsub === 2);
  for (let count = 51; count <= 60; count++) hub.write('desk/count', count, writer);
  await client.until(({ set }) => set?.some(([, value]) => value === 60) ?? false);
  t.deepEqual(client.picture.sequences.get('desk/count')!.slice(50), [60]);
});

test('docs/protocol.md: replacing a subscription by the same patterns sends nothing again, by others everything', async (t) => {
  const hub = await startDesk(t);
  hub.write('desk/count', 1, writer);
  hub.write('other/count', 2, writer);
  const client = await openV1(t, hub.port);
  await client.subscribe({ sub: 1, include: ['desk/*'] });
  t.deepEqual(await client.subscribe({ sub: 1, include: ['desk/*'], rate: 20, delivery: 'all' }), [
    { sub: 1, mode: 'resume', rate: 20, delivery: 'all' },
    { end: 1, rev: 2 },
  ]);
  const [answer, ...rest] = await client.subscribe({ sub: 1, include: ['other/*'] });
  t.is(answer?.mode, 'snapshot');
  t.is(definitions(rest).length, 6);
  t.is(client.picture.values.get('other/count'), 2);
  hub.write('desk/count', 10, writer);
  hub.write('other/count', 20, writer);
  await client.until(({ set }) => set !== undefined);
  t.is(client.picture.values.get('desk/count'), 1);
  t.is(client.picture.values.get('other/count'), 20);
});

test('docs/protocol.md: after unsub nothing more arrives', async (t) => {
  const hub = await startDesk(t);
  const client = await openV1(t, hub.port);
  await client.subscribe({ sub: 1, include: ['desk/*'] });
  await client.subscribe({ sub: 2, include: ['other/*'] });
  hub.write('desk/count', 1, writer);
  client.send({ unsub: 1 });
  await client.until(({ unsub }) => unsub === 1);
  t.is(client.picture.values.get('desk/count'), 1);
  hub.write('desk/count', 2, writer);
  hub.write('other/count', 3, writer);
  await client.until(({ set }) => set !== undefined);
  t.is(client.picture.values.get('desk/count'), 1);
  client.send({ unsub: 2 });
  await client.until(({ unsub }) => unsub === 2);
  hub.write('other/count', 4, writer);
  t.deepEqual(await client.sync(), [{ pong: 1 }]);
});

test('docs/protocol.md: a client that joins while irrelevant changes wait gets the revision all the same', async (t) => {
  const hub = await startDesk(t);
  const rates = [
    { sub: 1, include: ['desk/count'], rate: 2, delivery: 'all' },
    { sub: 2, include: ['desk/level'] },
  ];
  const early = await openV1(t, hub.port);
  for (const one of rates) await early.subscribe(one);
  const shown = () => early.picture.values.get('desk/count');
  /** Has somebody come while a change waits; on a machine on which that takes longer than the change waits, another one comes. */
  const comeMeanwhile = async () => {
    for (let count = 1; ; count += 2) {
      const late = await openV1(t, hub.port);
      hub.write('desk/count', count, writer);
      if (shown() !== count) await early.until(() => shown() === count);
      hub.write('desk/count', count + 1, writer);
      for (const one of rates) await late.subscribe(one);
      if (shown() === count) return { late, count: count + 1 };
    }
  };
  const { late, count } = await comeMeanwhile();
  t.is(late.picture.values.get('desk/count'), count);
  hub.write('desk/level', 3, writer);
  await late.until(({ rev }) => rev === hub.revision);
  if (early.picture.rev !== hub.revision) await early.until(({ rev }) => rev === hub.revision);
  t.deepEqual(late.picture.sequences.get('desk/count'), [count]);
  t.deepEqual(late.picture.values.get('desk/level'), 3);
});

test('docs/protocol.md: the rate is kept, regardless of other clients, and the last value arrives', async (t) => {
  const hub = await startDesk(t);
  const client = await openV1(t, hub.port);
  const others = await Promise.all([openV1(t, hub.port), openV1(t, hub.port)]);
  const subscription = { sub: 1, include: ['desk/count'], rate: 20 };
  await client.subscribe(subscription);
  const arrivals: number[] = [];
  let last: unknown;
  const reading = client.until(({ set }) => {
    if (set !== undefined) arrivals.push(performance.now());
    last = set?.at(-1)?.[1];
    return last === -1;
  });
  let count = 0;
  while (arrivals.length < 20) {
    hub.write('desk/count', ++count, writer);
    for (const other of others) {
      await other.subscribe(subscription);
      other.send({ unsub: 1 });
      await other.until(({ unsub }) => unsub === 1);
    }
  }
  hub.write('desk/count', -1, writer);
  await reading;
  t.is(last, -1);
  const spanMs = arrivals.at(-1)! - arrivals[0]!;
  t.true(arrivals.length <= (spanMs / 1000) * 20 + 3, `${arrivals.length} arrivals in ${spanMs} ms at rate 20`);
});

test('docs/protocol.md: rates are honoured within their bounds, one of some hundreds', async (t) => {
  const hub = await startDesk(t);
  const client = await openV1(t, hub.port);
  for (const [asked, honoured] of [
    [0, 0],
    [0.001, 0.1],
    [0.5, 0.5],
    [1.55, 1.5],
    [30, 30],
    [59.9, 59],
    [1e9, 1000],
  ]) {
    const [answer] = await client.subscribe({ sub: 1, rate: asked });
    t.is(answer?.rate, honoured);
  }
});

test('docs/protocol.md: webSocketFilters hide from patterns, globs and addresses alike', async (t) => {
  const hub = await startDesk(t, { webSocketFilters: ['^desk/'] });
  const client = await openV1(t, hub.port);
  await client.subscribe({ sub: 1 });
  await client.subscribe({ sub: 2, include: ['other/count', { regex: 'count$' }] });
  hub.write('other/count', 1, writer);
  hub.write('desk/count', 2, writer);
  await client.until(({ set }) => set !== undefined);
  t.is([...client.picture.addresses.values()].filter((address) => !address.startsWith('desk/')).length, 0);
  t.is(client.picture.values.get('desk/count'), 2);
  client.send({ set: [['other/count', 5]], ack: 1 });
  t.deepEqual(await client.next(), { ack: 1, errors: [] });
  t.is(hub.find('other/count')?.value, 5);
});

test('docs/protocol.md: pages that cannot set headers pass credentials as a subprotocol', async (t) => {
  const hub = await startDesk(t, { token: 'c2VjcmV0' });
  const offer = (text: string) => ({
    'sec-websocket-protocol': `patchbay.v1, patchbay.authorization.${Buffer.from(text).toString('base64url')}`,
  });
  await t.throwsAsync(openV1(t, hub.port), { message: /refused: 401/ });
  await t.throwsAsync(openV1(t, hub.port, undefined, offer('Bearer d3Jvbmc=')), { message: /refused: 401/ });
  const client = await openV1(t, hub.port, undefined, offer('Bearer c2VjcmV0'));
  t.true((await client.subscribe({ sub: 1 })).length > 2);
  t.is(portsOf(hub).length, 1);
});
