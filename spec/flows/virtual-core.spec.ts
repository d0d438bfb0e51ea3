// The example flow of the Virtual Core, as it stands, in a whole hub and virtual time.

import test, { type ExecutionContext } from 'ava';
import { filter, firstValueFrom, timeout, VirtualTimeScheduler } from 'rxjs';
import { monotonicScheduler, startHub } from '../../lib/hub.ts';
import type { Origin } from '../../lib/model/parameter.ts';
import type { Value } from '../../lib/model/value.ts';
import { createLogRecorder } from '../support/connection.ts';

const origin: Origin = { kind: 'client', name: 'spec' };

async function startStudio(t: ExecutionContext) {
  const scheduler = new VirtualTimeScheduler(undefined, 0);
  const hub = await startHub({ paths: ['flows/virtual-core.json5'], log: createLogRecorder(), scheduler });
  t.teardown(() => hub.stop());
  return {
    set: (address: string, value: Value) => void hub.write(address, value, origin),
    read: (address: string) => hub.find(address)!.value,
    pass(ms: number) {
      scheduler.maxFrames += ms;
      scheduler.flush();
      scheduler.frame = scheduler.maxFrames;
    },
  };
}

test('the red light is on with the first microphone and off two seconds after the last', async (t) => {
  const { set, read, pass } = await startStudio(t);
  set('desk/mic1/open', true);
  t.true(read('desk/red-light'));
  set('desk/mic2/open', true);
  set('desk/mic1/open', false);
  pass(5000);
  t.true(read('desk/red-light'));
  set('desk/mic2/open', false);
  pass(1999);
  t.true(read('desk/red-light'));
  t.is(read('core/red-light/elapsed'), 1900);
  pass(1);
  t.false(read('desk/red-light'));
  t.is(read('core/red-light/elapsed'), 2000);
  t.is(read('core/sign'), 'quiet');
});

test('the cough key mutes an open microphone and 150 ms longer', async (t) => {
  const { set, read, pass } = await startStudio(t);
  set('desk/mic1/cough', true);
  t.false(read('core/mute'));
  set('desk/mic1/open', true);
  t.true(read('desk/mic1/mute'));
  pass(10_000);
  t.true(read('core/cough-stuck'));
  set('desk/mic1/cough', false);
  t.false(read('core/cough-stuck'));
  pass(149);
  t.true(read('desk/mic1/mute'));
  pass(1);
  t.false(read('desk/mic1/mute'));
});

test('the lines are counted', async (t) => {
  const { set, read } = await startStudio(t);
  t.true(read('core/lines/down-done'));
  for (let line = 0; line < 4; line++) set('desk/line/answered', true);
  t.deepEqual([read('core/lines/count'), read('core/lines/free'), read('desk/lines-busy')], [4, 0, true]);
  set('desk/line/hung-up', true);
  t.deepEqual([read('core/lines/count'), read('core/lines/free'), read('desk/lines-busy')], [3, 1, false]);
  set('desk/mic1/open', true);
  t.is(read('core/sign'), 'ON AIR, 3 calling');
  set('desk/line/reset', true);
  t.true(read('core/lines/down-done'));
});

test('on a real clock the light goes off after its time, and not before', async (t) => {
  const hub = await startHub({ paths: ['flows/virtual-core.json5'], log: createLogRecorder() });
  t.teardown(() => hub.stop());
  hub.write('desk/follow-up', 130, origin);
  hub.write('desk/mic1/open', true, origin);
  const off = firstValueFrom(
    hub.changes$.pipe(
      filter(({ parameter, value }) => parameter.address === 'desk/red-light' && value === false),
      timeout(10_000),
    ),
  );
  const closedAt = monotonicScheduler.now();
  hub.write('desk/mic1/open', false, origin);
  await off;
  t.true(monotonicScheduler.now() - closedAt >= 130);
});
