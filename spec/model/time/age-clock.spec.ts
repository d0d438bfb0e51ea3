// The clock by which ages are judged over restarts: no setting of the machine's clock makes anything older than it is.

import test from 'ava';
import * as fc from 'fast-check';
import { AgeClock, beginAge } from '../../../lib/model/time/age-clock.ts';

const hour = 3_600_000;
const day = 24 * hour;
const year = 365 * day;
const noon = 20_000 * day;

/** A hub that runs on a machine whose clock is set now and then, and restarts. */
function machine() {
  let [wall, steady] = [noon, 0];
  let clock = new AgeClock(beginAge(noon), { wall, steady });
  const read = () => clock.read({ wall, steady });
  return {
    /** What the clock shows: by it something is noted. */
    note() {
      read();
      return clock.ages.ran;
    },
    age: (notedAt = noon) => clock.ages.of(notedAt),
    claimed: (notedAt = noon) => clock.ages.claimedOf(notedAt),
    newestOf: (ageMs: number) => clock.ages.newestOf(ageMs),
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
      const { kept } = clock;
      wall += downMs + byMs;
      steady = 0;
      clock = new AgeClock(JSON.parse(JSON.stringify(kept)), { wall, steady });
    },
  };
}

const sets = { '-1 h': -hour, '-1 d': -day, '+1 d': day, '+91 d': 91 * day, '+20 y': 20 * year };
/** A start may count for a millisecond. */
const isAbout = (one: number, other: number) => Math.abs(one - other) <= 5;

for (const [name, by] of Object.entries(sets)) {
  test(`while the hub runs, a clock set by ${name} ages nothing, for seconds or permanently`, (t) => {
    const one = machine();
    one.run(60_000);
    one.set(by);
    one.run(5000);
    t.is(one.age(), 65_000);
    one.set(-by);
    one.run(5000);
    t.is(one.age(), 70_000);
    one.set(by);
    one.run(hour);
    t.is(one.age(), 70_000 + hour);
  });

  test(`a hub that starts with a clock set by ${name} ages by no more than twice what it runs, and not at all once the clock is right`, (t) => {
    const one = machine();
    one.run(60_000);
    one.restart(0, by);
    t.true(isAbout(one.age(), 60_000));
    one.run(5000);
    t.true(isAbout(one.age(), 60_000 + (by > 0 ? 10_000 : 5000)));
    const before = one.age();
    one.set(-by);
    one.run(hour);
    t.true(isAbout(one.age() - before, hour));
  });

  test(`an entry recorded while the clock is ${name} wrong has its real age once the clock is right`, (t) => {
    const one = machine();
    one.restart(0, by);
    one.run(1000);
    const notedAt = one.note();
    one.restart(0, -by);
    one.run(hour);
    const claimed = by < 0 ? hour : 0; // to set it right looks like a pause, which counts as it lasts
    t.true(isAbout(one.age(notedAt), hour + claimed));
  });
}

test('a downtime counts once the hub has run as long again, and not for later entries', (t) => {
  const one = machine();
  one.restart(10 * day);
  t.true(isAbout(one.age(), 0));
  t.true(isAbout(one.claimed(), 10 * day));
  const notedAt = one.note();
  one.run(4 * day, hour);
  t.true(isAbout(one.age(), 8 * day));
  t.is(one.age(notedAt), 4 * day);
  t.is(one.claimed(notedAt), 4 * day);
  one.restart(hour);
  one.run(7 * day, hour);
  t.true(isAbout(one.age(), 21 * day + hour));
  t.true(isAbout(one.age(notedAt), 11 * day + hour));
});

test('entries on a machine that is off each night have their real age', (t) => {
  const one = machine();
  const notedAt = one.note();
  for (let days = 0; days < 400; days++) {
    one.run(12 * hour, hour);
    one.restart(12 * hour);
  }
  one.run(12 * hour, hour);
  t.true(Math.abs(one.age(notedAt) - 400.5 * day) < hour);
});

test('the newest entry of an age is the last one of that age', async (t) => {
  const steps = fc.array(
    fc.record({ runHours: fc.integer({ min: 1, max: 40 }), downHours: fc.integer({ min: 0, max: 60 }) }),
    { minLength: 1, maxLength: 8 },
  );
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 200 }), (steps, ageHours) => {
      const one = machine();
      const notes = [one.note()];
      for (const { runHours, downHours } of steps) {
        for (let ran = 0; ran < runHours; ran++) {
          one.run(hour, hour);
          notes.push(one.note());
        }
        if (downHours > 0) one.restart(downHours * hour);
        notes.push(one.note());
      }
      const newest = one.newestOf(ageHours * hour);
      for (const notedAt of notes) t.is(one.age(notedAt) >= ageHours * hour, notedAt <= newest);
    }),
  );
});

test('a clock corrected in small steps changes nothing', (t) => {
  const one = machine();
  for (let second = 0; second < 1000; second++) {
    one.set(second % 2 === 0 ? -400 : 400);
    one.run(1000);
  }
  t.is(one.age(), 1_000_000);
});
