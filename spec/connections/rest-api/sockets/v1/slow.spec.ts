// Clients of patchbay.v1 that do not read (docs/protocol.md "Slow readers"): the hub holds a bounded amount, tells what was
// lost to the last change, and nobody else waits.

import test, { type ExecutionContext } from 'ava';
import type { ClientList } from '../../../../../lib/wire/http/operation.ts';
import { ask } from '../../../../support/http.ts';
import { api, expectHits, expectQuietLog, type HubUnderTest, startTestHub, writer } from '../../../../support/hub.ts';
import { startReloading } from '../../../../support/reload.ts';
import { openV1, type Picture } from '../../../../support/sockets/v1.ts';

const count = 300;
const names = Array.from({ length: count }, (_, index) => `p${index}`);
const padding = 'x'.repeat(500);
/** What the hub holds, and the system for both ends of a connection: some megabytes, as it sees fit. */
const maxHeldBytes = 12 * 1024 * 1024;
/** What waits for a client that does not read its answers. */
const maxUnreadBytes = 1024 * 1024;
const startDesk = (t: ExecutionContext, settings = {}) =>
  startTestHub(t, {
    connections: { api: { ...api, ...settings }, desk: { type: 'dummy', parameters: [...names, 'go,T', 'mark,I'] } },
  });

/** Writes values and fires, and counts how many. */
function createWriter(hub: Pick<HubUnderTest, 'write'>) {
  const made = new Map<string, number>();
  let next = 0;
  const write = (address: string, value: unknown) => {
    hub.write(address, value, writer);
    made.set(address, (made.get(address) ?? 0) + 1);
  };
  return {
    made,
    burst(changes: number) {
      for (let index = 0; index < changes; index++) {
        write(`desk/p${(next * 7) % count}`, `${next++} ${padding}`);
        if (index % 10 === 0) write('desk/go', 1);
      }
    },
    mark: (value: number) => write('desk/mark', value),
  };
}

async function lostFires(t: ExecutionContext, { port }: HubUnderTest): Promise<number> {
  const { text } = await ask(t, port, 'GET /hub/metrics');
  return Number(/^patchbay_fires_lost_total (.*)$/m.exec(text)![1]);
}

/** How many clients have not been sent all that there was. */
async function countSlow(t: ExecutionContext, { port }: HubUnderTest): Promise<number> {
  const { clients } = JSON.parse((await ask(t, port, 'GET /hub/clients')).text) as ClientList;
  return clients.filter(({ state }) => state !== 'live').length;
}

/** Fails unless what was told and what was lost is together all that there was. */
function expectAll(t: ExecutionContext, picture: Picture, made: ReadonlyMap<string, number>): void {
  for (const [address, changes] of made) {
    const reported = picture.sequences.get(address)?.length ?? picture.fires.get(address) ?? 0;
    t.is(reported + (picture.lost.get(address) ?? 0), changes, address);
  }
  for (const [address, sequence] of picture.sequences) {
    const numbers = sequence.map((value) => Number.parseInt(String(value), 10));
    t.deepEqual(
      numbers,
      [...new Set(numbers)].sort((one, other) => one - other),
      `${address} in order, each once`,
    );
  }
  t.deepEqual(picture.faults, []);
}

function expectNewest(t: ExecutionContext, picture: Picture, hub: HubUnderTest): void {
  for (const { address, type, value } of hub.parameters())
    if (type !== 'T') t.is(picture.values.get(address), value, address);
}

const wishes = ['all', 'latest'].flatMap((delivery) => [0, 40].map((rate) => ({ delivery, rate })));

test('docs/protocol.md: a client that stops reading gets the newest values and the exact losses: all and latest, at rate 0 and 40', async (t) => {
  const hub = await startDesk(t);
  const { made, burst, mark } = createWriter(hub);
  const reader = await openV1(t, hub.port);
  await reader.subscribe({ sub: 1, delivery: 'all' });
  const slow = await Promise.all(wishes.map(async (wish) => ({ ...wish, client: await openV1(t, hub.port) })));
  for (const { client, delivery, rate } of slow) await client.subscribe({ sub: 1, delivery, rate });
  const pause = () => slow.forEach(({ client }) => void client.pause());
  const resume = () => slow.forEach(({ client }) => void client.resume());
  for (let stall = 1; stall <= 2; stall++) {
    pause();
    const before = slow.map(({ client }) => client.receivedBytes);
    for (let part = 0; part < 75 || (await countSlow(t, hub)) < slow.length; part++) {
      burst(400);
      await reader.sync();
    }
    burst(400);
    resume();
    for (let part = 0; part < 30; part++) {
      burst(50);
      if (part === 10) pause();
      if (part === 20) resume();
      await reader.sync();
    }
    mark(stall);
    for (const [index, { client, delivery, rate }] of slow.entries()) {
      const { picture } = client;
      if (picture.values.get('desk/mark') !== stall)
        await client.until(() => picture.values.get('desk/mark') === stall, 'the mark');
      await client.sync();
      while (rate > 0 && picture.rev < hub.revision) await client.sync();
      t.is(picture.rev, hub.revision);
      const receivedBytes = client.receivedBytes - before[index]!;
      t.true(receivedBytes < maxHeldBytes, `${receivedBytes} bytes of 16 MB were held or sent`);
      expectNewest(t, picture, hub);
      if (delivery === 'all') expectAll(t, picture, made);
      else t.is((picture.fires.get('desk/go') ?? 0) + (picture.lost.get('desk/go') ?? 0), made.get('desk/go') ?? 0);
    }
  }
  for (const { client } of slow) {
    t.true((client.picture.lost.get('desk/go') ?? 0) > 0, 'it was slow');
    t.deepEqual(client.picture.faults, []);
  }
  await reader.sync();
  t.is(reader.picture.lost.size, 0);
  expectAll(t, reader.picture, made);
  expectQuietLog(t, hub);
});

test('docs/protocol.md: a client that reads a snapshot late gets it then, with the changes and subscriptions in between', async (t) => {
  const hub = await startDesk(t);
  const { burst, mark } = createWriter(hub);
  for (const name of names) hub.write(`desk/${name}`, `0 ${padding.repeat(100)}`, writer);
  const slow = await openV1(t, hub.port);
  const reader = await openV1(t, hub.port);
  slow.pause();
  slow.send({ sub: 1, include: ['desk/*'], exclude: ['desk/mark'], delivery: 'all' });
  slow.send({ sub: 2, include: ['desk/p1*'] });
  await reader.subscribe({ sub: 1 });
  for (let part = 0; part < 20; part++) {
    burst(100);
    await reader.sync();
  }
  slow.send({ sub: 3, include: ['desk/mark'] });
  slow.send({ unsub: 2 });
  slow.send({ set: [['desk/p0', 'written while it did not read']], ack: 1 });
  await reader.until(({ set }) => set?.some(([, value]) => value === 'written while it did not read') ?? false);
  mark(1);
  slow.resume();
  const messages = await slow.until(() => slow.picture.values.get('desk/mark') === 1);
  messages.push(...(await slow.sync()));
  const ends = messages.flatMap(({ end }) => end ?? []);
  t.true(ends.includes(1) && ends.includes(3));
  expectNewest(t, slow.picture, hub);
  t.deepEqual(slow.picture.faults, []);
});

test('docs/protocol.md: a client that does not read misses no answer: its further requests wait', async (t) => {
  const hub = await startDesk(t, { limits: { backlogBytes: 64 * 1024 * 1024 } });
  const slow = await openV1(t, hub.port);
  const reader = await openV1(t, hub.port);
  const set = Array.from({ length: 30 }, (_, index) => [`desk/${index}${'x'.repeat(2000)}`, 1]);
  const asked = Array.from({ length: 300 }, (_, ack) => ack);
  slow.pause();
  for (const ack of asked) slow.send({ set, ack });
  const unread = async () => {
    const { clients } = JSON.parse((await ask(t, hub.port, 'GET /hub/clients')).text);
    return clients[0].unreadBytes;
  };
  while ((await unread()) < 256 * 1024) await reader.sync();
  for (let round = 0; round < 10; round++) await reader.sync();
  t.true((await unread()) < maxUnreadBytes);
  slow.resume();
  const answers = await slow.until(({ ack }) => ack === asked.at(-1), 'the last answer');
  t.deepEqual(
    answers.map(({ ack }) => ack),
    asked,
  );
  expectQuietLog(t, hub);
});

test('docs/protocol.md: a client that reads nothing for longer than stallTimeout is closed with 4001, others are not', async (t) => {
  const hub = await startDesk(t, { stallTimeout: 1000 });
  const { burst } = createWriter(hub);
  const slow = await openV1(t, hub.port);
  const reader = await openV1(t, hub.port);
  await slow.subscribe({ sub: 1, delivery: 'all' });
  await reader.subscribe({ sub: 1, delivery: 'all' });
  slow.pause();
  t.is(await lostFires(t, hub), 0);
  let isReported = false;
  const reported = hub.logged(/exceeded the limit stallMs/).finally(() => {
    isReported = true;
  });
  while (!isReported) {
    burst(200);
    await reader.sync();
  }
  await reported;
  slow.resume();
  t.is(await slow.closed(), 4001);
  t.true((await lostFires(t, hub)) > 0, 'what it was not sent counts, though it never reads again');
  burst(10);
  await reader.sync();
  t.is(reader.picture.lost.size, 0);
  expectNewest(t, reader.picture, hub);
  expectHits(t, hub, ['stallMs']);
});

test('docs/protocol.md: parameters are added and removed while a client does not read, and during its snapshot', async (t) => {
  const flow = (parameters: string[]) => ({
    connections: { api, desk: { type: 'dummy', parameters: [...parameters, 'mark,I'] } },
  });
  const { hub, reload } = await startReloading(t, { 'flow.json5': flow(names) });
  const { mark } = createWriter(hub);
  const slow = await openV1(t, hub.port);
  const reader = await openV1(t, hub.port);
  await slow.subscribe({ sub: 1, delivery: 'all' });
  await reader.subscribe({ sub: 1 });
  slow.pause();
  for (let part = 0; part < 30; part++) {
    for (let index = 0; index < 400; index++)
      hub.write(`desk/p${index % count}`, `${part * 400 + index} ${padding}`, writer);
    await reader.sync();
  }
  const late = await openV1(t, hub.port);
  late.pause();
  late.send({ sub: 1 });
  await reader.sync();
  await reload('flow.json5', flow([...names.slice(0, 100), 'new,I', 'p150,I,42', ...names.slice(200)]));
  hub.write('desk/new', 7, writer);
  mark(1);
  slow.resume();
  late.resume();
  for (const client of [slow, late, reader]) {
    if (client.picture.values.get('desk/mark') !== 1)
      await client.until(() => client.picture.values.get('desk/mark') === 1);
    await client.sync();
    t.deepEqual(client.picture.faults, []);
    const known = new Map([...client.picture.addresses].map(([id, address]) => [address, id]));
    t.deepEqual([...known.keys()].sort(), [...hub.parameters()].map(({ address }) => address).sort());
    for (const { address, value } of hub.parameters()) t.is(client.picture.values.get(address), value, address);
    t.is(client.picture.types.get('desk/p150'), 'I');
  }
});

test('docs/protocol.md: all long texts arrive at many clients in order, with the fires between them', async (t) => {
  const hub = await startDesk(t);
  const { made, mark } = createWriter(hub);
  const long = 'x'.repeat(60_000);
  const clients = await Promise.all(Array.from({ length: 70 }, () => openV1(t, hub.port)));
  await Promise.all(clients.map((client) => client.subscribe({ sub: 1, delivery: 'all' })));
  const write = (address: string, value: unknown) => {
    hub.write(address, value, writer);
    made.set(address, (made.get(address) ?? 0) + 1);
  };
  for (let number = 0; number < 4; number++) {
    write('desk/p1', `${number} ${long}`);
    write('desk/go', 1);
    write('desk/p2', `${number}`);
    await new Promise(setImmediate);
  }
  mark(1);
  for (const { picture, until, sync } of clients) {
    if (picture.values.get('desk/mark') !== 1) await until(() => picture.values.get('desk/mark') === 1, 'the mark');
    await sync();
    t.is(picture.lost.size, 0);
    t.is(picture.rev, hub.revision);
    expectAll(t, picture, made);
  }
  expectQuietLog(t, hub);
});

test('docs/protocol.md: a reading client of the newest values gets any number of long texts, and is live', async (t) => {
  const hub = await startDesk(t);
  const clients = await Promise.all(Array.from({ length: 70 }, () => openV1(t, hub.port)));
  await Promise.all(clients.map((client) => client.subscribe({ sub: 1 })));
  for (let number = 0; number < 12; number++) {
    hub.write('desk/p1', `${number} ${'x'.repeat(60_000)}`, writer);
    await new Promise(setImmediate);
  }
  const last = [...hub.parameters()].find(({ address }) => address === 'desk/p1')!.value;
  for (const client of clients) {
    const { picture } = client;
    if (picture.values.get('desk/p1') !== last)
      await client.until(() => picture.values.get('desk/p1') === last, 'the last');
    t.deepEqual(picture.faults, []);
  }
  while ((await countSlow(t, hub)) > 0) await clients[0]!.sync();
});
