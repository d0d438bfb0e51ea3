// A loop through time that runs for ever needs no more memory than one that has just begun.

import test from 'ava';
import { VirtualTimeScheduler } from 'rxjs';
import { createLogRecorder } from '../support/connection.ts';
import { startTestHub } from '../support/hub.ts';
import { collectGarbage } from '../support/system/used-memory.ts';
import '../support/own-process.ts';

const changesPerRound = 40_000;
const toleranceBytes = 2_000_000;

test('a timer that starts itself again by a rule: memory is flat, and its cause is still known', async (t) => {
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
