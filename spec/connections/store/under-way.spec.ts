// What was under way when the hub ended goes on when it starts again: blocks of a Virtual Core and timers.

import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../support/deadline.ts';
import { writer } from '../../support/hub.ts';
import { install, type StoredHub } from '../../support/store/store.ts';

const desk = {
  type: 'dummy',
  parameters: ['mic,B,false', 'set,B,false', 'reset,B,false', 'light,B,false', 'rang,I,0'],
};
const lightFollows = { name: 'light', from: 'core/red', to: 'desk/light' };

const set = (hub: StoredHub, id: string, value: unknown) => hub.write(`desk/${id}`, value, writer);

/** It ends when it should have, or right after the start where that is later; a time that began anew would end seconds later. */
function endsInTime(t: ExecutionContext, endedAt: number, { dueAt, startedAt }: { dueAt: number; startedAt: number }) {
  const lateMs = endedAt - Math.max(dueAt, startedAt);
  t.true(endedAt >= dueAt - 2000 && lateMs < 3000, `${lateMs} ms late`); // a busy hub reads the time of day seldom
}

const tof = (pt: number) => ({
  type: 'virtual-core',
  inputs: { mic: 'desk/mic' },
  outputs: { red: { block: 'TOF', in: 'mic', pt } },
});

test('a TOF that runs ends when it should have', async (t) => {
  const { start } = await install(t, { desk, core: tof(8000) }, { rules: [lightFollows] });
  const before = await start();
  set(before, 'mic', true);
  const beganAt = Date.now();
  set(before, 'mic', false);
  await eventually(() => (before.find('core/red/elapsed')!.value as number) >= 1000);
  await before.stop();

  const hub = await start();
  const startedAt = Date.now();
  t.true(hub.find('core/red')!.value as boolean, 'it still runs');
  await eventually(() => hub.find('desk/light')!.value === false);
  endsInTime(t, hub.find('desk/light')!.lastChange!.time, { dueAt: beganAt + 8000, startedAt });
});

test('a TOF that fell due while the hub was down ends once, after the rules listen', async (t) => {
  const offDelayMs = 6000; // a busy machine ends the hub within that
  const { start } = await install(t, { desk, core: tof(offDelayMs) }, { rules: [lightFollows] });
  const before = await start();
  set(before, 'mic', true);
  const beganAt = Date.now();
  set(before, 'mic', false);
  await eventually(() => (before.find('core/red/elapsed')!.value as number) >= 200);
  await before.stop();
  t.true(before.find('desk/light')!.value as boolean);
  await eventually(() => Date.now() > beganAt + offDelayMs + 500);

  const hub = await start();
  await eventually(() => hub.find('desk/light')!.value === false);
  t.is(hub.find('desk/light')!.lastChange!.origin.name, 'light');
});

test('a timer that runs fires when it should have; one that fell due fires once', async (t) => {
  const rules = [1, 2].map((n) => ({
    from: `clock/timer/${n}/trigger`,
    map: `param('fires/t${n}') + 1`,
    to: `fires/t${n}`,
  }));
  const fires = { type: 'dummy', parameters: ['t1,I,0', 't2,I,0'] };
  const { start } = await install(t, { clock: { type: 'timer' }, fires }, { rules });
  const before = await start();
  before.write('clock/timer/1/start', 8000, writer);
  before.write('clock/timer/2/start', 400, writer);
  const beganAt = Date.now();
  await before.stop();
  await eventually(() => Date.now() > beganAt + 500);

  const hub = await start();
  const startedAt = Date.now();
  await eventually(() => hub.find('fires/t2')!.value === 1);
  await eventually(() => hub.find('fires/t1')!.value === 1);
  endsInTime(t, hub.find('fires/t1')!.lastChange!.time, { dueAt: beganAt + 8000, startedAt });
  await hub.stop();

  const later = await start();
  later.write('clock/timer/3/start', 100, writer);
  await eventually(() => later.find('clock/timer/3/trigger')!.lastChange !== undefined);
  t.deepEqual([later.find('fires/t1')!.value, later.find('fires/t2')!.value], [1, 1], 'both have fired once');
});

test('latches, counters and edges go on as they were', async (t) => {
  const core = {
    type: 'virtual-core',
    inputs: { set: 'desk/set', reset: 'desk/reset', mic: 'desk/mic' },
    outputs: {
      latch: { block: 'SR', set: 'set', reset: 'reset' },
      opened: { block: 'CTU', up: 'mic', pv: 3 },
      both: { block: 'CTUD', up: 'set', down: 'reset', pv: 1 },
      pulse: { block: 'TP', in: 'mic', pt: 60_000 },
    },
  };
  const { start } = await install(t, { desk, core });
  const before = await start();
  for (const value of [true, false]) for (const id of ['mic', 'set']) set(before, id, value);
  set(before, 'mic', true);
  const read = (hub: StoredHub) =>
    ['latch', 'opened', 'opened/count', 'both', 'both/count', 'both/down-done', 'pulse'].map(
      (id) => hub.find(`core/${id}`)!.value,
    );
  const expected = [true, false, 2, true, 1, false, true];
  t.deepEqual(read(before), expected);
  await before.stop();

  const hub = await start();
  t.deepEqual(read(hub), expected);
  for (const value of [false, true]) set(hub, 'mic', value);
  t.deepEqual([hub.find('core/opened')!.value, hub.find('core/opened/count')!.value], [true, 3]);
});

test('a block that has become another starts anew, and so does a core that is started by hand', async (t) => {
  const counting = (block: object) => ({
    desk,
    core: { type: 'virtual-core', inputs: { mic: 'desk/mic' }, outputs: { count: block } },
  });
  const ctu = { block: 'CTU', up: 'mic', pv: 3 };
  const installation = await install(t, counting(ctu));
  const before = await installation.start();
  for (const value of [true, false, true]) set(before, 'mic', value);
  t.is(before.find('core/count/count')!.value, 2);
  await before.stop();
  await installation.change(counting({ block: 'CTD', down: 'mic', pv: 3 }));
  const other = await installation.start();
  t.is(other.find('core/count/count')!.value, 0);
  for (const value of [false, true]) set(other, 'mic', value);
  other.control('core', 'restart', writer);
  t.is(other.find('core/count/count')!.value, 0);
  await other.stop();
  const next = await installation.start();
  t.is(next.find('core/count/count')!.value, 0);
});
