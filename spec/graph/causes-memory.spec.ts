// An endless loop through time needs no more memory than one that has just begun.

import test from 'ava';
import { VirtualTimeScheduler } from 'rxjs';
import { createLogRecorder } from '../support/connection.ts';
import { startTestHub } from '../support/hub.ts';
import { collectGarbage } from '../support/system/used-memory.ts';
import '../support/own-process.ts';

const changesPerRound = 40_000;
const toleranceBytes = 2_000_000;

test('a timer that a rule restarts needs constant memory, and its cause stays known', async (t) => {
  const scheduler = new VirtualTimeScheduler(undefined, 0);
  const hub = await startTestHub(
    t,
    {
      connections: { clock: { type: 'timer', timers: [1] }, desk: { type: 'dummy', parameters: ['n,I,0'] } },
      rules: [
        { name: 'again', from: 'clock/timer/1/trigger', map: '1', to: 'clock/timer/1/start' },
        { name: 'tell', from: 'clock/timer/1/trigger', to: 'desk/n' },
      ],
    },
    { scheduler, log: createLogRecorder() },
  );
  hub.write('clock/timer/1/start', 1, { kind: 'client', name: 'test' });
  const heapAfter = (changes: number) => {
    const until = hub.revision + changes;
    while (hub.revision < until) {
      scheduler.maxFrames += 1000;
      scheduler.flush();
    }
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const first = heapAfter(changesPerRound);
  const second = heapAfter(changesPerRound);
  t.true(second - first < toleranceBytes, `${second - first} bytes more`);
  const { depth, cause } = hub.find('clock/timer/1/trigger')!.lastChange!;
  t.true(depth > changesPerRound);
  t.is(cause?.parameter.address, 'clock/timer/1/start');
});

test('a change keeps the beginnings of the long texts that led to it: their room is free once they are replaced', async (t) => {
  const count = 300;
  const ids = Array.from({ length: count }, (_, index) => index);
  const hub = await startTestHub(t, {
    connections: { desk: { type: 'dummy', parameters: ids.flatMap((id) => [`text-${id},S`, `size-${id},I`]) } },
    rules: ids.map((id) => ({
      from: `desk/text-${id}`,
      when: 'size(value) > 1',
      map: 'size(value)',
      to: `desk/size-${id}`,
    })),
  });
  const client = { kind: 'client', name: 'test' } as const;
  const usedBytes = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = usedBytes();
  for (const id of ids)
    for (const text of [`${id}`.padEnd(60_000, 'x'), 'a', 'b']) hub.write(`desk/text-${id}`, text, client);
  const moreBytes = usedBytes() - before;
  t.true(moreBytes < 60_000 * (count / 10), `${moreBytes} bytes more`);
  for (const id of ids) {
    const { value, cause } = hub.find(`desk/size-${id}`)!.lastChange!;
    t.is(value, 60_000);
    t.is(cause?.parameter.address, `desk/text-${id}`);
    t.is(cause?.value, `${`${id}`.padEnd(256, 'x')}…`);
  }
});
