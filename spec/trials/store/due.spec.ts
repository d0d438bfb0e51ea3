// The short form of `npm run trial -- due`: a TOF and a timer that run when the hub is killed end when they should have.

import test from 'ava';
import { killWhileRunning } from './due/due.ts';

test('a TOF that fell due while the hub was killed ends at its start, a timer that goes on at its time', async (t) => {
  t.timeout(240_000);
  const task = { tofMs: 300, timerMs: 8000, leadMs: 1000, downMs: 300, isQuick: true };
  const { tofLateMs, timerLateMs, wasDue, fires } = await killWhileRunning(task);
  t.true(wasDue);
  t.true(tofLateMs < 3000, `the TOF ended ${tofLateMs} ms late`);
  t.true(timerLateMs > -500, `the timer ended ${-timerLateMs} ms early`); // a busy hub reads the time of day seldom
  t.is(fires, 1);
});
