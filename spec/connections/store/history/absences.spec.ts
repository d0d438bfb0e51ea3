// Times in which values were stale are gaps: of the parameters of that connection alone, at every resolution, and over restarts and kills.

import { writeFile } from 'node:fs/promises';
import test, { type ExecutionContext } from 'ava';
import { awayReason, downReason } from '../../../../lib/connections/store/history/history-tables.ts';
import { answerHistories } from '../../../../lib/connections/store/reader/histories/histories.ts';
import { PastDatabase } from '../../../../lib/connections/store/reader/past-database.ts';
import { Deadline, momentOf } from '../../../../lib/connections/store/reader/past-moment.ts';
import type { History } from '../../../../lib/wire/http/past-shapes.ts';
import { eventually } from '../../../support/deadline.ts';
import { api, portsOf } from '../../../support/hub.ts';
import { startPeer } from '../../../support/peer.ts';
import { type MadeHistory, makeHistory } from '../../../support/store/history.ts';
import { install, type StoredHub } from '../../../support/store/store.ts';

const hour = 3_600_000;
const minute = 60_000;
const start = 500_000 * hour;

function read(
  t: ExecutionContext,
  { path }: MadeHistory,
  range: object,
  address = 'rig/a',
  now = start + hour,
): History {
  const database = new PastDatabase(path);
  t.teardown(() => database.close());
  return database.read(() => {
    const question = { parameters: [{ address, isHidden: false }], list: undefined, sight: undefined, format: 'json' };
    const asked = { ...question, from: start, to: start + hour, points: 1000, ...range };
    return JSON.parse(answerHistories(momentOf(database, now, new Deadline(10_000)), asked as never));
  });
}

const begins = (time: number, connection = 'rig') => ({
  connection,
  start: time,
  end: undefined,
  reason: awayReason,
  revision: 3,
});
const ends = (from: number, to: number, connection = 'rig') => ({ ...begins(from, connection), end: to });

/** 10 for 30 s, 20 for 15 s, stale until 90 s, 20 until 100 s, then 5; beside it a parameter of another connection. */
async function recorded(t: ExecutionContext, entries?: readonly object[]): Promise<MadeHistory> {
  const history = await makeHistory(t, entries && { entries });
  history.open(start);
  history.write(
    [
      ['rig/a', 'F', start, 10],
      ['desk/a', 'F', start, 1],
      ['rig/a', 'F', start + 30_000, 20],
    ],
    start + 45_000,
    [begins(start + 45_000)],
  );
  history.write([], start + 80_000);
  history.write([['rig/a', 'F', start + 100_000, 5]], start + 110_000, [ends(start + 45_000, start + 90_000)]);
  history.write([], start + hour);
  return history;
}

const gap = { from: start + 45_000, to: start + 90_000, lost: 0, reason: awayReason };

test('the value is unknown while it is stale, and holds again afterwards', async (t) => {
  const history = await recorded(t);
  const { times, values, gaps } = read(t, history, {});
  t.deepEqual(
    times.map((time) => time - start),
    [0, 30_000, 45_000, 90_000, 100_000],
  );
  t.deepEqual(values, [10, 20, null, 20, 5]);
  t.deepEqual(gaps, [gap]);
  const other = read(t, history, {}, 'desk/a');
  t.deepEqual([other.values, other.gaps], [[1], []], 'another connection has no gap');
});

test('a query that begins or ends within the gap', async (t) => {
  const history = await recorded(t);
  const inside = read(t, history, { from: start + 60_000, to: start + 95_000 });
  t.deepEqual([inside.values, inside.gaps], [[null, 20], [gap]]);
  const whole = read(t, history, { from: start + 50_000, to: start + 60_000 });
  t.deepEqual([whole.values, whole.gaps], [[null], [gap]]);
  t.deepEqual(read(t, history, { from: start + 40_000, to: start + 50_000 }).values, [20, null]);
  const after = read(t, history, { from: start + 95_000, to: start + 99_000 });
  t.deepEqual([after.values, after.gaps], [[20], []]);
  t.deepEqual(read(t, history, { from: start + 60_000, to: start + 80_000, points: 1 }).times, [start + 45_000]);
});

test('buckets, minutes and hours exclude the time', async (t) => {
  const history = await recorded(t);
  const { kind, stepMs, times, mean } = read(t, history, { to: start + 2 * minute - 1, points: 2 });
  t.deepEqual([kind, stepMs, times], ['buckets', minute, [start, start + minute]]);
  const means = [(30 * 10 + 15 * 20) / 45, (10 * 20 + 20 * 5) / 30];
  t.deepEqual(
    mean,
    means.map((one) => Math.round(one * 1e6) / 1e6),
  );
  const minutes = history.read(
    "SELECT mean, last FROM minute JOIN parameter ON id = parameter WHERE address = 'rig/a'",
  );
  t.deepEqual(
    minutes.map(({ mean }) => mean),
    means,
  );
  t.deepEqual(
    minutes.map(({ last }) => last),
    [20, 5],
    'the value holds over the end of a minute in which it is stale',
  );
  const silent = read(t, history, { from: start + 50_000, to: start + 80_000, points: 3 });
  t.true(
    (silent.mean ?? silent.values)!.every((one) => one === null),
    JSON.stringify(silent),
  );
});

test('without single changes the minutes have the same gap', async (t) => {
  const history = await recorded(t, [{ raw: '0' }]);
  const { kind, mean, gaps } = read(t, history, { to: start + 2 * minute - 1, points: 100 });
  t.is(kind, 'buckets');
  t.deepEqual(gaps, [gap]);
  t.deepEqual(mean, [13.333333, 10]);
});

test('a hub that is killed while values are stale: the gap ends where the hub was last seen, and the hub was down from then on', async (t) => {
  const history = await makeHistory(t);
  history.open(start);
  history.write([['rig/a', 'F', start, 10]], start + 10_000, [begins(start + 5000)]);
  history.write([], start + 30_000);
  t.deepEqual(
    read(t, history, {}, 'rig/a', start + 40_000).gaps.map(({ from, to }) => [from - start, to - start]),
    [[5000, 40_000]],
    'it lasts',
  );
  history.kill();
  history.open(start + minute, start + minute);
  history.write([['rig/a', 'F', start + 70_000, 10]], start + 80_000, [
    begins(start + 61_000),
    ends(start + 61_000, start + 70_000),
  ]);
  const { times, values, gaps } = read(t, history, {}, 'rig/a', start + 90_000);
  t.deepEqual(
    gaps.map(({ from, to, reason }) => [from - start, to - start, reason]),
    [
      [5000, 30_000, awayReason],
      [30_000, minute, downReason],
      [61_000, 70_000, awayReason],
    ],
  );
  t.deepEqual(
    times.map((time, index) => [time - start, values![index]]),
    [
      [0, 10],
      [5000, null],
      [70_000, 10],
    ],
  );
});

test('values that the device reports before it counts as online hold afterwards', async (t) => {
  const history = await makeHistory(t);
  history.open(start);
  history.write([['rig/a', 'F', start, 10]], start + 10_000, [begins(start + 5000)]);
  history.write([['rig/a', 'F', start + 19_000, 12]], start + 30_000, [ends(start + 5000, start + 20_000)]);
  const { times, values } = read(t, history, { to: start + 30_000 });
  t.deepEqual(
    times.map((time, index) => [time - start, values![index]]),
    [
      [0, 10],
      [5000, null],
      [19_000, 12],
      [20_000, 12],
    ],
  );
  t.deepEqual(read(t, history, { from: start + 21_000, to: start + 29_000 }).values, [12]);
});

test('if the clock is set back during an absence, the later recording counts', async (t) => {
  const history = await makeHistory(t);
  history.open(start);
  history.write([['rig/a', 'F', start, 10]], start + 10_000, [{ ...begins(start + 5000), revision: 1 }]);
  history.write([], start + 20_000);
  history.jump(start + 30_000, start + 10_000);
  history.write([['rig/a', 'F', start + 12_000, 4]], start + 25_000, [
    { ...ends(start + 5000, start + 30_000), revision: 1 },
    { ...begins(start + 10_000), revision: 2 },
    { ...ends(start + 10_000, start + 12_000), revision: 2 },
  ]);
  const { gaps } = read(t, history, { to: start + 25_000 }, 'rig/a', start + 25_000);
  t.deepEqual(
    gaps.filter(({ reason }) => reason === awayReason).map(({ from, to }) => [from - start, to - start]),
    [
      [5000, 10_000],
      [10_000, 12_000],
    ],
  );
});

test('a hub with a store and a device: HTTP, CSV, the value that stays, and a restart', async (t) => {
  let level = 7;
  const options = { end: '\n', answer: () => `L=${level}\n` };
  const peer = await startPeer(t, options);
  const description = `{ about: 'It', frame: { end: '\\n' }, poll: '50ms', timeout: '200ms', parameters: {
    level: { type: 'I', ask: { send: 'L?', reply: 'L={value:int}' } } } }`;
  const it = { type: 'device', tcp: `127.0.0.1:${peer.port}`, protocol: './it.device.json5' };
  const installation = await install(t, { it, api });
  await writeFile(`${installation.folder}/it.device.json5`, description);
  const first = await installation.start();
  await eventually(() => first.find('it/level')?.value === 7);
  await peer.stop();
  await eventually(() => first.find('it/level')?.device?.staleSince !== undefined);
  const since = first.find('it/level')!.device!.staleSince!;
  await peer.start();
  await eventually(() => first.find('it/level')?.device?.staleSince === undefined);
  const history = await historyOf(first, 'it/level');
  t.deepEqual(history.values, [7, null, 7]);
  t.is(history.gaps.length, 1);
  t.is(history.gaps[0]!.from, Math.floor(since));
  t.is(history.gaps[0]!.reason, awayReason);
  t.regex(await csvOf(first, 'it/level'), /,7,,,,\r\nit\/level,[^,]+,,,,,\r\nit\/level,[^,]+,7,/);
  level = 9;
  await eventually(() => first.find('it/level')?.value === 9);
  await peer.stop();
  await eventually(() => first.find('it/level')?.device?.staleSince !== undefined);
  await first.stop();
  await installation.closed();
  const second = await installation.start();
  await peer.start();
  await eventually(() => second.find('it/level')?.value === 9);
  const both = await historyOf(second, 'it/level');
  t.deepEqual(both.values, [7, null, 7, 9, null, 9]);
  t.true(both.gaps.filter(({ reason }) => reason === awayReason).length >= 2);
});

async function historyOf(hub: StoredHub, address: string): Promise<History> {
  await hub.persistence.archive?.history?.flush();
  return (await (await fetch(`http://127.0.0.1:${portsOf(hub)[0]}/hub/history/${address}`)).json()) as History;
}

async function csvOf(hub: StoredHub, address: string): Promise<string> {
  return await (await fetch(`http://127.0.0.1:${portsOf(hub)[0]}/hub/history/${address}?format=csv`)).text();
}
