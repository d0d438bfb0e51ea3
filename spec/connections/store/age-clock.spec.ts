// The clock by which a store judges ages: no setting of the machine's clock makes anything older than it is.

import test from 'ava';
import { AgeClock, type KeptAge } from '../../../lib/connections/store/age-clock.ts';

const hour = 3_600_000;
const day = 24 * hour;
const year = 365 * day;
const noon = 20_000 * day;

/** A hub that runs on a machine whose clock is set now and then, and restarts. */
function machine(start = noon) {
  let [wall, steady] = [start, 0];
  let clock = new AgeClock({ measured: start, behind: 0, wall: start }, { wall, steady });
  const read = () => clock.read({ wall, steady });
  return {
    /** How much older everything is than at the start. */
    aged: () => read() - start,
    run(ms: number, stepMs = 1000) {
      for (let passed = 0; passed < ms; passed += stepMs) {
        wall += stepMs;
        steady += stepMs;
        read();
      }
    },
    set(byMs: number) {
      wall += byMs;
    },
    restart(downMs: number, byMs = 0) {
      const kept: KeptAge = clock.kept;
      wall += downMs + byMs;
      steady = 0;
      clock = new AgeClock(kept, { wall, steady });
    },
  };
}

for (const [name, by] of Object.entries({
  '-1 h': -hour,
  '-1 d': -day,
  '+1 d': day,
  '+91 d': 91 * day,
  '+20 y': 20 * year,
})) {
  test(`while the hub runs a clock set by ${name} ages nothing, be it for seconds or for good`, (t) => {
    const one = machine();
    one.run(60_000);
    one.set(by);
    one.run(5000);
    t.is(one.aged(), 65_000);
    one.set(-by);
    one.run(5000);
    t.is(one.aged(), 70_000);
    one.set(by);
    one.run(hour);
    t.is(one.aged(), 70_000 + hour);
  });

  test(`a hub that starts with a clock set by ${name} ages by no more than twice what it runs, and not at all once the clock is right`, (t) => {
    const one = machine();
    one.run(60_000);
    one.restart(0, by);
    t.is(one.aged(), 60_000);
    one.run(5000);
    t.is(one.aged(), 60_000 + (by > 0 ? 10_000 : 5000));
    const before = one.aged();
    one.set(-by);
    one.run(hour);
    t.is(one.aged() - before, hour);
  });

  test(`a clock set by ${name} that is right again at the next start ages nothing from then on`, (t) => {
    const one = machine();
    one.restart(0, by);
    one.run(1000);
    const before = one.aged();
    one.restart(0, -by);
    one.run(hour);
    const claimed = by < 0 ? hour : 0; // to set it right looks like a pause, which counts as it lasts
    t.is(one.aged() - before, hour + claimed);
  });
}

test('a pause in which the hub was down counts once the hub has run as long again', (t) => {
  const one = machine();
  one.restart(10 * day);
  t.is(one.aged(), 0);
  one.run(4 * day, hour);
  t.is(one.aged(), 8 * day);
  one.restart(hour);
  one.run(7 * day, hour);
  t.is(one.aged(), 4 * day + 10 * day + hour + 7 * day);
});

test('a clock that is kept right in small steps changes nothing', (t) => {
  const one = machine();
  for (let second = 0; second < 1000; second++) {
    one.set(second % 2 === 0 ? -400 : 400);
    one.run(1000);
  }
  t.is(one.aged(), 1_000_000);
});
