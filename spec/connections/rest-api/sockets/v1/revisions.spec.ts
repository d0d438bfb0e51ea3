// What docs/protocol.md "Revisions" and "Resuming" answer: when a revision is told, what an end means beyond a break, and what a
// snapshot clears.

import test, { type ExecutionContext } from 'ava';
import { heartbeatPayload } from '../../../../../lib/connections/rest-api/sockets/socket-protocol.ts';
import { api, type HubUnderTest, startTestHub, writer } from '../../../../support/hub.ts';
import { opcodes, openRawClient, type RawClient } from '../../../../support/sockets/socket.ts';
import { type Message, openV1, type V1Client } from '../../../../support/sockets/v1.ts';

const largeCount = 10_000;
const many = (count: number) => Array.from({ length: count }, (_, index) => `p${index},I,0`);
const startDesk = (t: ExecutionContext, count = largeCount) =>
  startTestHub(t, {
    connections: {
      api,
      desk: { type: 'dummy', parameters: many(5) },
      plant: { type: 'dummy', parameters: many(count) },
    },
  });
const startFew = (t: ExecutionContext) => startDesk(t, 20);

const small = { sub: 1, include: ['desk/**'] };
const large = { sub: 2, include: ['plant/**'] };

function writeAll(hub: HubUnderTest, value: number): void {
  for (let index = 0; index < largeCount; index++) hub.write(`plant/p${index}`, value, writer);
}

/** Fails unless the client has every value of the hub. */
function expectAll(t: ExecutionContext, hub: HubUnderTest, { values }: V1Client['picture']): void {
  const stale = [...hub.parameters()].filter(({ address, value }) => values.get(address) !== value);
  t.deepEqual(stale.map(({ address }) => address).slice(0, 3), [], `${stale.length} values are stale`);
}

const revisionsOf = (messages: readonly Message[]) => messages.flatMap(({ rev = [] }) => rev);

test('no revision is sent between the answer to a subscription and its end, also for earlier subscriptions', async (t) => {
  const hub = await startDesk(t);
  const client = await openV1(t, hub.port);
  await client.subscribe(small);
  client.send(large);
  const reported = await client.until(({ sub }) => sub === 2);
  let isComplete = false;
  for (let value = 1; !isComplete; value++) {
    hub.write('desk/p0', value, writer);
    const messages = await client.until(({ end, set = [] }) => end === 2 || set.some((item) => item[1] === value));
    isComplete = messages.at(-1)!.end === 2;
    reported.push(...messages);
  }
  const answered = reported.findIndex(({ sub }) => sub === 2);
  const onItsWay = reported.slice(answered, -1);
  t.true(onItsWay.some(({ set = [] }) => set.some(([id]) => client.picture.addresses.get(id) === 'desk/p0')));
  t.deepEqual(revisionsOf(onItsWay), []);
  await client.sync();
  expectAll(t, hub, client.picture);
});

test('a client that keeps the revision after a small subscription, and is cut during a large one, resumes completely', async (t) => {
  const hub = await startDesk(t);
  const first = await openV1(t, hub.port);
  await first.subscribe(small);
  await first.subscribe(large);
  const { epoch } = first;
  const { rev } = first.picture;
  first.cut();
  writeAll(hub, 1);
  const second = await openV1(t, hub.port, first.picture);
  second.send({ ...small, since: { epoch, rev } });
  second.send({ ...large, since: { epoch, rev } });
  const awaited = new Set([1, 2]);
  let kept = rev;
  await second.until((message) => {
    if (message.end !== undefined) awaited.delete(message.end);
    if (message.rev !== undefined && awaited.size === 0) kept = message.rev;
    return message.end !== undefined;
  }, 'the first end');
  second.cut();
  writeAll(hub, 2);
  const third = await openV1(t, hub.port, second.picture);
  for (const one of [small, large])
    t.is((await third.subscribe({ ...one, since: { epoch, rev: kept } }))[0]?.mode, 'resume');
  expectAll(t, hub, third.picture);
});

/** Opens a client that answers no ping by itself, and subscribes. */
async function subscribeRaw(t: ExecutionContext, port: number, since?: object): Promise<RawClient> {
  const headers = { 'sec-websocket-protocol': 'patchbay.v1' };
  const client = await openRawClient(t, port, '', undefined, headers);
  client.send(opcodes.text, JSON.stringify({ ...small, since }));
  return client;
}

/** Reads up to the first end; returns which subscriptions were answered before. */
async function readEnd(client: RawClient): Promise<number[]> {
  const answered: number[] = [];
  for (;;) {
    const { opcode, payload } = await client.frames.next('an end');
    if (opcode !== opcodes.text) continue;
    const { sub, end }: Message = JSON.parse(payload.toString());
    if (end !== undefined) return answered;
    if (sub !== undefined) answered.push(sub);
  }
}

/** What somebody knows who was here before. */
async function sinceOf(t: ExecutionContext, hub: HubUnderTest): Promise<object> {
  hub.write('desk/p0', 1, writer);
  const client = await openV1(t, hub.port);
  await client.subscribe(small);
  client.cut();
  return { epoch: client.epoch, rev: client.picture.rev };
}

test.serial(
  'the first end of a connection, and its first revision, wait 250 ms for further subscriptions of a client that answers no ping',
  async (t) => {
    const hub = await startFew(t);
    const client = await subscribeRaw(t, hub.port);
    const before = performance.now();
    await readEnd(client);
    t.true(performance.now() - before > 240);
  },
);

test.serial('the first end waits for earlier messages while the hub is busy, for any time', async (t) => {
  const hub = await startFew(t);
  const client = await subscribeRaw(t, hub.port);
  for (let isAnswered = false; !isAnswered; ) {
    const { opcode, payload } = await client.frames.next('an answer');
    isAnswered = opcode === opcodes.text && JSON.parse(payload.toString()).sub === 1;
  }
  client.send(opcodes.text, JSON.stringify({ sub: 2, include: ['desk/p1'] }));
  for (const endMs = performance.now() + 400; performance.now() < endMs; ); // the hub is in this process
  t.deepEqual(await readEnd(client), [2]);
});

test.serial('an answer to an earlier ping does not count as the answer after a subscription', async (t) => {
  const hub = await startFew(t);
  const client = await subscribeRaw(t, hub.port, await sinceOf(t, hub));
  const before = performance.now();
  client.send(opcodes.pong, heartbeatPayload);
  await readEnd(client);
  t.true(performance.now() - before > 240);
});

for (const isResuming of [false, true])
  test.serial(
    `the first end of a client that ${isResuming ? 'resumes' : 'is new'} waits until a ping is answered, and for what was sent before`,
    async (t) => {
      const hub = await startFew(t);
      const since = isResuming ? await sinceOf(t, hub) : undefined;
      let isSooner = false;
      for (let attempt = 0; attempt < 50 && !isSooner; attempt++) {
        const silent = await subscribeRaw(t, hub.port, since);
        const client = await subscribeRaw(t, hub.port, since);
        let frame = await client.frames.next('a ping');
        while (frame.opcode !== opcodes.ping) frame = await client.frames.next('a ping');
        client.send(opcodes.text, JSON.stringify({ sub: 2, include: ['desk/p1'] }));
        client.send(opcodes.pong, frame.payload);
        const ends = [readEnd(silent).then(() => undefined), readEnd(client)];
        const first = await Promise.race(ends);
        await Promise.all(ends);
        isSooner = first?.[0] === 2;
        for (const one of [silent, client]) one.cut();
      }
      t.true(isSooner);
    },
  );

test('no end or revision arrives before a received subscription is answered', async (t) => {
  const hub = await startDesk(t);
  const client = await openV1(t, hub.port);
  const include = Array.from({ length: 100 }, (_, index) => `*/q*${index}`);
  client.send(small);
  client.send({ sub: 2, include });
  const messages = await client.until(({ rev }) => rev !== undefined, 'a revision');
  t.deepEqual(
    messages.flatMap(({ sub = [] }) => sub),
    [1, 2],
  );
});

test('a revision never decreases on a connection, also when earlier changes wait', async (t) => {
  const hub = await startFew(t);
  const subscriptions = [
    { ...small, rate: 1 },
    { sub: 2, include: ['plant/p1', 'plant/p2'] },
  ];
  const early = await openV1(t, hub.port);
  for (const one of subscriptions) await early.subscribe(one);
  for (const value of [1, 2]) {
    hub.write('desk/p0', value, writer);
    if (value === 1) await early.until(({ set }) => set !== undefined);
  }
  const late = await openV1(t, hub.port); // desk/p0 waits in its group
  const messages: Message[] = [];
  for (const one of subscriptions) messages.push(...(await late.subscribe(one)));
  for (let value = 1; late.picture.rev < hub.revision || value < 20; value++) {
    if (value < 20) hub.write('plant/p1', value, writer);
    messages.push(...(await late.sync()));
  }
  messages.push(...(await late.sync())); // what came behind the last answer
  const revisions = revisionsOf(messages);
  t.deepEqual(
    revisions,
    [...revisions].sort((one, other) => one - other),
  );
  t.is(revisions.at(-1), hub.revision);
});

test('an end remains valid after a break, also after one in the middle of a resume; definitions are repeated unchanged', async (t) => {
  const hub = await startDesk(t);
  const first = await openV1(t, hub.port);
  const [, ...defined] = (await first.subscribe(large)).flatMap(({ def = [] }) => def);
  const since = { epoch: first.epoch, rev: first.picture.rev };
  first.cut();
  writeAll(hub, 1);
  const second = await openV1(t, hub.port, first.picture);
  second.send({ ...large, since });
  await second.until(({ set = [] }) => set.length > 0);
  second.cut();
  const third = await openV1(t, hub.port, second.picture);
  const messages = await third.subscribe({ ...large, since });
  t.is(messages[0]?.mode, 'resume');
  t.deepEqual(third.picture.faults, []);
  const again = new Map(messages.flatMap(({ def = [] }) => def).map((one) => [one[0], one]));
  t.deepEqual(
    defined.filter((one) => JSON.stringify(again.get(one[0])) !== JSON.stringify(one)),
    [],
  );
  t.is([...third.picture.values.values()].filter((value) => value === 1).length, largeCount);
});

test('a snapshot has all its matches, also those that another subscription has received', async (t) => {
  const hub = await startFew(t);
  const client = await openV1(t, hub.port);
  await client.subscribe({ sub: 1, include: ['desk/p1', 'desk/p2'] });
  const messages = await client.subscribe({ sub: 2, include: ['desk/p2', 'desk/p3'] });
  const sent = messages.flatMap(({ set = [] }) => set).map(([id]) => client.picture.addresses.get(id));
  t.is(messages[0]?.mode, 'snapshot');
  t.deepEqual(sent.sort(), ['desk/p2', 'desk/p3']);
});

test('an end before the new answer belongs to the replaced subscription', async (t) => {
  const hub = await startDesk(t);
  const client = await openV1(t, hub.port);
  client.send({ sub: 1, include: ['plant/p1*'] });
  client.send({ sub: 1, include: ['desk/*'] });
  const messages = await client.until(({ end }) => end === 1 && client.picture.values.has('desk/p4'));
  const answers = messages.flatMap((message, place) => (message.sub === 1 ? place : []));
  t.is(answers.length, 2);
  const after = messages.slice(answers[1]!);
  t.deepEqual(
    after.flatMap(({ end = [] }) => end),
    [1],
  );
});

test('answers have the order of the messages', async (t) => {
  const hub = await startFew(t);
  const client = await openV1(t, hub.port);
  client.send({ set: 1, ack: 1 });
  client.send({ sub: -1 });
  client.send({ unsub: 7 });
  client.send({ set: [['desk/p0', 1]], ack: 2 });
  client.send({ sub: 3, include: ['desk/p0'] });
  client.send({ ping: 9 });
  const answers = await client.until(({ pong }) => pong !== undefined);
  const said = answers.flatMap(({ error, sub, ack, pong }) => {
    if (error !== undefined) return `error ${sub ?? ack ?? ''}`.trim();
    return sub !== undefined
      ? `sub ${sub}`
      : ack !== undefined
        ? `ack ${ack}`
        : pong !== undefined
          ? `pong ${pong}`
          : [];
  });
  t.deepEqual(said, ['error 1', 'error -1', 'error', 'ack 2', 'sub 3', 'pong 9']);
});
