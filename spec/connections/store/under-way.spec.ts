// What was under way when the hub ended goes on when it starts again: blocks of a Virtual Core and timers.

import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../support/deadline.ts';
import { writer } from '../../support/hub.ts';
import { shared } from '../../support/shared.ts';
import { install, type StoredHub } from '../../support/store/store.ts';

/** It still runs when the next hub has started, also on a busy machine. */
const longMs = 14_000;
/** The hub ends within that, and the next one starts after it. */
const shortMs = 6000;

const tof = (pt: number) => ({
  type: 'virtual-core',
  inputs: { mic: 'desk/mic' },
  outputs: { red: { block: 'TOF', in: 'mic', pt } },
});
const counting = (block: object) => ({
  type: 'virtual-core',
  inputs: { mic: 'desk/counted' },
  outputs: { count: block },
});
const flags = ['mic', 'counted', 'longLight', 'shortLight', 'set', 'reset', 'up'];
const connections = {
  desk: { type: 'dummy', parameters: flags.map((id) => `${id},B,false`) },
  long: tof(longMs),
  short: tof(shortMs),
  clock: { type: 'timer' },
  fires: { type: 'dummy', parameters: ['t1,I,0', 't2,I,0'] },
  core: {
    type: 'virtual-core',
    inputs: { set: 'desk/set', reset: 'desk/reset', mic: 'desk/up' },
    outputs: {
      latch: { block: 'SR', set: 'set', reset: 'reset' },
      opened: { block: 'CTU', up: 'mic', pv: 3 },
      both: { block: 'CTUD', up: 'set', down: 'reset', pv: 1 },
      pulse: { block: 'TP', in: 'mic', pt: 60_000 },
    },
  },
  other: counting({ block: 'CTU', up: 'mic', pv: 3 }),
};
const rules = [
  ...['long', 'short'].map((id) => ({ name: id, from: `${id}/red`, to: `desk/${id}Light` })),
  ...[1, 2].map((n) => ({ from: `clock/timer/${n}/trigger`, map: `param('fires/t${n}') + 1`, to: `fires/t${n}` })),
];

const set = (hub: StoredHub, id: string, ...values: boolean[]) => {
  for (const value of values) hub.write(`desk/${id}`, value, writer);
};
const blocks = (hub: StoredHub) =>
  ['latch', 'opened', 'opened/count', 'both', 'both/count', 'both/down-done', 'pulse'].map(
    (id) => hub.find(`core/${id}`)!.value,
  );
const countOf = (hub: StoredHub) => hub.find('other/count/count')!.value;

/** A hub that starts when the short times are over, and what the one before was like; `counts`: of the block that becomes another. */
const restart = shared(async (t) => {
  const installation = await install(t, connections, { rules });
  const before = await installation.start();
  const beganAt = Date.now();
  set(before, 'mic', true, false);
  before.write('clock/timer/1/start', longMs, writer);
  for (const id of ['up', 'set']) set(before, id, true, false);
  set(before, 'up', true);
  set(before, 'counted', true, false, true);
  const counts = [countOf(before)];
  await eventually(() => (before.find('long/red/elapsed')!.value as number) >= 1000);
  before.write('clock/timer/2/start', 400, writer); // it is stopped with the hub, before it fires
  await before.stop();
  await eventually(() => Date.now() > beganAt + shortMs + 500);
  await installation.change({ ...connections, other: counting({ block: 'CTD', down: 'mic', pv: 3 }) });
  const hub = await installation.start();
  const startedAt = Date.now();
  const isLongUnderWay = hub.find('long/red')!.value;
  counts.push(countOf(hub));
  set(hub, 'counted', false, true);
  hub.control('other', 'restart', writer);
  counts.push(countOf(hub));
  return { installation, before, hub, counts, isLongUnderWay, dueAt: beganAt + longMs, startedAt };
});

/** The hub after that, which starts when nothing is under way. */
const restartAgain = shared(async () => {
  const { installation, hub } = await restart();
  for (const id of ['fires/t1', 'fires/t2']) await eventually(() => hub.find(id)!.value === 1);
  for (const id of ['desk/longLight', 'desk/shortLight']) await eventually(() => hub.find(id)!.value === false);
  await hub.stop();
  await installation.closed();
  return installation.start();
});

/** It ends when it should have, or right after the start where that is later; a time that began anew would end seconds later. */
function endsInTime(t: ExecutionContext, endedAt: number, { dueAt, startedAt }: { dueAt: number; startedAt: number }) {
  const lateMs = endedAt - Math.max(dueAt, startedAt);
  t.true(endedAt >= dueAt - 2000 && lateMs < 3000, `${lateMs} ms late`); // a busy hub reads the time of day seldom
}

test('a running TOF ends on time', async (t) => {
  const { hub, isLongUnderWay, ...times } = await restart();
  t.true(isLongUnderWay, 'it still runs');
  await eventually(() => hub.find('desk/longLight')!.value === false);
  endsInTime(t, hub.find('desk/longLight')!.lastChange!.time, times);
});

test('a TOF that expired while the hub was down ends once, after the rules listen', async (t) => {
  const { before, hub } = await restart();
  t.true(before.find('desk/shortLight')!.value as boolean);
  await eventually(() => hub.find('desk/shortLight')!.value === false);
  t.is(hub.find('desk/shortLight')!.lastChange!.origin.name, 'short');
});

test('a running timer fires on time; an expired one fires once', async (t) => {
  const { before, hub, ...times } = await restart();
  t.is(before.find('fires/t2')!.value, 0);
  const later = await restartAgain();
  endsInTime(t, hub.find('fires/t1')!.lastChange!.time, times);
  later.write('clock/timer/3/start', 100, writer);
  await eventually(() => later.find('clock/timer/3/trigger')!.lastChange !== undefined);
  t.deepEqual([later.find('fires/t1')!.value, later.find('fires/t2')!.value], [1, 1], 'both have fired once');
});

test('latches, counters and edges keep their state', async (t) => {
  const { before, hub } = await restart();
  const expected = [true, false, 2, true, 1, false, true];
  t.deepEqual(blocks(before), expected);
  t.deepEqual(blocks(hub), expected);
  set(hub, 'up', false, true);
  t.deepEqual([hub.find('core/opened')!.value, hub.find('core/opened/count')!.value], [true, 3]);
});

test('a changed block restarts, and so does a core that is started by hand', async (t) => {
  const { counts } = await restart();
  t.deepEqual(counts, [2, 0, 0]);
  t.is(countOf(await restartAgain()), 0);
});
