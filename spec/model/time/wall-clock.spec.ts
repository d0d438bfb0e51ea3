// The time of day beside a clock that never jumps: what a jump is, when it is told, and what is no jump.

import { setImmediate as nextRound } from 'node:timers/promises';
import test from 'ava';
import { type ClockJump, createWallClock, describeJump } from '../../../lib/model/time/wall-clock.ts';
import { eventually } from '../../support/deadline.ts';

const noon = Date.UTC(2026, 10, 22, 12);
const hour = 3_600_000;

function machine() {
  const time = { wall: noon, steady: 0 };
  const clock = createWallClock({ wall: () => time.wall, steady: () => time.steady });
  const jumps: ClockJump[] = [];
  const stop = clock.watch((jump) => jumps.push(jump));
  const pass = (ms: number) => {
    time.wall += ms;
    time.steady += ms;
  };
  return { time, clock, jumps, pass, stop };
}

test('the time is constant within a round of the event loop', async (t) => {
  const { clock, pass } = machine();
  t.is(clock.now(), noon);
  pass(5);
  t.is(clock.now(), noon);
  await nextRound();
  await nextRound();
  t.is(clock.now(), noon + 5);
});

for (const [name, by] of Object.entries({ 'back by an hour': -hour, 'ahead by 20 years': 7300 * 24 * hour }))
  test(`a clock that is set ${name} is reported before the new time is used`, async (t) => {
    const { time, clock, jumps, pass, stop } = machine();
    const order: unknown[] = [];
    const stopOther = clock.watch((jump) => order.push(jump));
    order.push(clock.now());
    await nextRound();
    await nextRound();
    pass(1500);
    time.wall += by;
    order.push(clock.now());
    const jump = { before: noon + 1500, after: noon + 1500 + by };
    t.deepEqual(order, [noon, jump, jump.after]);
    t.deepEqual(jumps, [jump]);
    stopOther();
    stop();
  });

test('a clock that goes back by less than a second stands still until it has caught up', async (t) => {
  const { time, clock, jumps, pass, stop } = machine();
  const reported: number[] = [];
  const notify = async () => {
    reported.push(clock.now() - noon);
    await nextRound();
    await nextRound();
  };
  await notify();
  time.wall -= 300;
  await notify();
  pass(200);
  await notify();
  pass(200);
  await notify();
  t.deepEqual(reported, [0, 0, 0, 100]);
  t.deepEqual(jumps, []);
  stop();
});

test('time without activity is not a jump, and a jump is noticed without activity', async (t) => {
  const { time, jumps, pass, stop } = machine();
  pass(10 * hour);
  await eventually(() => true);
  time.wall -= hour;
  await eventually(() => jumps.length > 0);
  t.deepEqual(jumps, [{ before: noon + 10 * hour, after: noon + 9 * hour }]);
  stop();
});

test('a jump is reported in everyday words', (t) => {
  const at = (ms: number) => ({ before: noon, after: noon + ms });
  t.is(
    describeJump(at(-90 * 60_000)),
    'the clock was set back by 1 h 30 min, from 2026-11-22T12:00:00.000Z to 2026-11-22T10:30:00.000Z',
  );
  t.is(
    describeJump(at(91 * 24 * hour)),
    'the clock was set ahead by 91 d, from 2026-11-22T12:00:00.000Z to 2027-02-21T12:00:00.000Z, or the machine was asleep',
  );
  t.regex(describeJump(at(1e18)), /to \+275760-09-13T00:00:00\.000Z/);
});
