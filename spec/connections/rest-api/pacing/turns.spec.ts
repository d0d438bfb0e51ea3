// What takes the hub long is done in turns: while it works for one client it serves the neighbours, however fast the machine is.

import test, { type ExecutionContext } from 'ava';
import { processorMs } from '../../../../lib/connections/rest-api/pacing/round.ts';
import { ask } from '../../../support/http.ts';
import { api, expectHits, type HubUnderTest, startTestHub } from '../../../support/hub.ts';
import { shared } from '../../../support/shared.ts';
import { openClient } from '../../../support/sockets/socket.ts';
import { openV1, type V1Client } from '../../../support/sockets/v1.ts';

const few = 1000;
/** In one piece, each of the rows below would take a few hundred milliseconds with so many parameters. */
const many = 40_000;
/** So long the hub works on average, as the processor counts it, before the neighbour is served again; it is 5 to 15 ms. */
const longestMs = 30;
/** A pattern that takes long. Each is asked for once: the hub may know what matches it from then on. */
const worst = (end: string) => `(?i)(.*){1,180}${end}`;
const longList = Array.from({ length: 15 }, (_, index) => `*e*${index}*s*a*e*o*a*u*~`);

const startPlant = (t: ExecutionContext, size: number, limits = {}) => {
  const sensors = Array.from({ length: size }, (_, index) => `group-${index % 10}/sensor-${index}/value,I,${index}`);
  const desk = { type: 'dummy', parameters: [...sensors, 'lamp,I'] };
  return startTestHub(t, { connections: { api: { ...api, limits }, desk } });
};

const plant = shared((t) => startPlant(t, few));
const largePlant = shared((t) => startPlant(t, many));

const rows: [what: string, work: (t: ExecutionContext, hub: HubUnderTest, client: V1Client) => Promise<unknown>][] = [
  [
    'a list with the worst filter',
    (t, { port }) => ask(t, port, `GET /hub/parameters?filter=${encodeURIComponent(worst('~1'))}`),
  ],
  [
    'a plain socket with the worst filter',
    (t, { port }) => openClient(t, port, `?filter=${encodeURIComponent(worst('~2'))}`),
  ],
  [
    'a subscription to the worst regex',
    (_, __, client) => client.subscribe({ sub: 1, include: [{ regex: worst('~4') }] }),
  ],
  ['a subscription to 15 globs', (_, __, client) => client.subscribe({ sub: 1, include: longList })],
  ['three lists', (t, { port }) => Promise.all(Array.from({ length: 3 }, () => ask(t, port, 'GET /hub/parameters')))],
];
for (const [what, work] of rows)
  test.serial(`a neighbour is served repeatedly while the hub works at ${what}`, async (t) => {
    const hub = await largePlant();
    const neighbour = await openV1(t, hub.port);
    const client = await openV1(t, hub.port);
    let isDone = false;
    const working = work(t, hub, client).finally(() => {
      isDone = true;
    });
    const beganMs = processorMs();
    let served = 0;
    while (!isDone) {
      await neighbour.sync();
      served++;
    }
    const workedMs = processorMs() - beganMs;
    await working;
    t.true(workedMs > 2 * longestMs, `${workedMs} ms are so little that they could be one piece`);
    t.true(workedMs / served < longestMs, `${workedMs} ms, ${served} times`); // it would be once or twice if the work were one piece
  });

test.serial('messages after a slow subscription are processed in order, after it', async (t) => {
  const { port } = await plant();
  const client = await openV1(t, port);
  client.send({ sub: 1, include: [{ regex: worst('~5') }] });
  client.send({ set: [['desk/lamp', 1]], ack: 1 });
  client.send({ unsub: 1 });
  client.send({ sub: 2, include: [{ regex: '(' }] });
  client.send({ sub: 2, include: ['desk/lamp'] });
  const messages = await client.until(({ end }) => end === 2);
  const kinds = messages.map(({ sub, ack, unsub, error }) => (error ? 'error' : sub ? `sub ${sub}` : (ack ?? unsub)));
  t.deepEqual(
    kinds.filter((kind) => kind !== undefined),
    ['sub 1', 1, 1, 'error', 'sub 2'],
  );
  t.is(client.picture.values.get('desk/lamp'), 1);
});

test.serial('a client that sends more than may wait behind a subscription is closed with 4008', async (t) => {
  const hub = await startPlant(t, 20_000, { backlogBytes: 256 * 1024 });
  const client = await openV1(t, hub.port);
  client.send({ sub: 1, include: [{ regex: worst('~6') }] });
  for (let count = 0; count < 20; count++) client.send({ set: [['desk/lamp', 'x'.repeat(60_000)]] });
  t.is(await client.closed(), 4008);
  expectHits(t, hub, ['backlogBytes']);
});

test.serial('a plain socket receives every change since its handshake, for any duration of its filter', async (t) => {
  const hub = await plant();
  const client = await openClient(t, hub.port, `?filter=${encodeURIComponent(worst('lamp$'))}`);
  const writer = await openClient(t, hub.port, '?filter=none');
  for (let value = 11; value <= 13; value++) writer.send({ p: 'desk/lamp', v: value });
  for (let value = 11; value <= 13; value++) t.deepEqual(await client.next(), { p: 'desk/lamp', v: String(value) });
});

test.serial('a client that leaves before its answer leaves no work behind', async (t) => {
  const { port } = await plant();
  const path = `/hub/parameters?filter=${encodeURIComponent(worst('~3'))}`;
  const leave = () => fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(20) });
  for (let times = 0; times < 3; times++)
    await t.throwsAsync(Promise.all(Array.from({ length: 20 }, async () => (await leave()).text())));
  const start = performance.now();
  t.is((await ask(t, port, `GET ${path}`)).text, '[\n]\n');
  t.log(`${performance.now() - start} ms`);
});

test.serial(
  'the patterns of all subscriptions of a client are limited together, and the client continues',
  async (t) => {
    const hub = await startTestHub(t, { connections: { api, desk: { type: 'dummy', parameters: ['lamp,I'] } } });
    const client = await openV1(t, hub.port);
    for (let sub = 1; sub <= 4; sub++) await client.subscribe({ sub, include: [{ regex: `(?i)(.*){1,180}${sub}` }] });
    client.send({ sub: 5, include: [{ regex: '(?i)(.*){1,180}~' }] });
    const { error, sub } = (await client.until((message) => message.error !== undefined)).at(-1)!;
    t.is(sub, 5);
    t.regex(error!, /^sub: expected patterns of at most 4000 steps in all subscriptions together, got about \d+$/);
    await client.subscribe({ sub: 4, include: ['desk/*'] });
    await client.subscribe({ sub: 5, include: [{ regex: '(?i)(.*){1,180}~' }] });
  },
);
