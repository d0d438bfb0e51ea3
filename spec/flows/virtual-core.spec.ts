// The example flow of the Virtual Core, as it stands, in a whole hub and virtual time.

import test, { type ExecutionContext } from 'ava';
import { filter, firstValueFrom, timeout, VirtualTimeScheduler } from 'rxjs';
import { monotonicScheduler, startHub } from '../../lib/hub/index.ts';
import type { Origin } from '../../lib/model/parameter.ts';
import type { Value } from '../../lib/model/value.ts';
import { createLogRecorder } from '../support/connection.ts';
import { deadlineMs } from '../support/deadline.ts';

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
  set('panel/mic1/open', true);
  t.true(read('panel/red-light'));
  set('panel/mic2/open', true);
  set('panel/mic1/open', false);
  pass(5000);
  t.true(read('panel/red-light'));
  set('panel/mic2/open', false);
  pass(1999);
  t.true(read('panel/red-light'));
  t.is(read('logic/red-light/elapsed'), 1900);
  pass(1);
  t.false(read('panel/red-light'));
  t.is(read('logic/red-light/elapsed'), 2000);
  t.is(read('logic/sign'), 'quiet');
});

test('the cough key mutes an open microphone and 150 ms longer', async (t) => {
  const { set, read, pass } = await startStudio(t);
  set('panel/mic1/cough', true);
  t.false(read('logic/mute'));
  set('panel/mic1/open', true);
  t.true(read('panel/mic1/mute'));
  pass(10_000);
  t.true(read('logic/cough-stuck'));
  set('panel/mic1/cough', false);
  t.false(read('logic/cough-stuck'));
  pass(149);
  t.true(read('panel/mic1/mute'));
  pass(1);
  t.false(read('panel/mic1/mute'));
});

test('the lines are counted', async (t) => {
  const { set, read } = await startStudio(t);
  t.true(read('logic/lines/down-done'));
  for (let line = 0; line < 4; line++) set('panel/line/answered', true);
  t.deepEqual([read('logic/lines/count'), read('logic/lines/free'), read('panel/lines-busy')], [4, 0, true]);
  set('panel/line/hung-up', true);
  t.deepEqual([read('logic/lines/count'), read('logic/lines/free'), read('panel/lines-busy')], [3, 1, false]);
  set('panel/mic1/open', true);
  t.is(read('logic/sign'), 'ON AIR, 3 calling');
  set('panel/line/reset', true);
  t.true(read('logic/lines/down-done'));
});

test('on a real clock the light goes off after its time, and not before', async (t) => {
  const hub = await startHub({ paths: ['flows/virtual-core.json5'], log: createLogRecorder() });
  t.teardown(() => hub.stop());
  hub.write('panel/follow-up', 130, origin);
  hub.write('panel/mic1/open', true, origin);
  const off = firstValueFrom(
    hub.changes$.pipe(
      filter(({ parameter, value }) => parameter.address === 'panel/red-light' && value === false),
      timeout(deadlineMs),
    ),
  );
  const closedAt = monotonicScheduler.now();
  hub.write('panel/mic1/open', false, origin);
  await off;
  t.true(monotonicScheduler.now() - closedAt >= 130);
});
