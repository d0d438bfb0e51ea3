// How long the history keeps what, whatever the clock shows: nothing goes because of a time that has not lasted.

import test from 'ava';
import { AgesOfHours } from '../../../../lib/connections/store/history/database/hour-ages.ts';
import { hourMs } from '../../../../lib/connections/store/history/history-tables.ts';
import { Ages, beginAge } from '../../../../lib/model/time/age-clock.ts';
import { sampled } from '../../../support/random.ts';
import { makeHistory } from '../../../support/store/history.ts';

const day = 24 * hourMs;
const start = 20_000 * day;
const rounds = 30;

for (const [name, by] of Object.entries({ '-1 d': -day, '-91 d': -91 * day, '+91 d': 91 * day, '+20 y': 7300 * day }))
  test(`a clock that is set by ${name}, while the hub runs or before it starts, costs nothing: not of before, nor of then, nor of after it is right again`, async (t) => {
    const isTried = sampled(t, 2);
    for (const [index, how] of ['while the hub runs', 'before it starts'].entries()) {
      if (!isTried(index)) continue;
      const history = await makeHistory(t, { entries: [{ raw: '12h', minutes: '12h', hours: '12h' }] });
      let now = start;
      history.open(now);
      const write = (count: number, stepMs = hourMs / 4) => {
        for (let one = 0; one < count; one++, now += stepMs)
          t.is(history.write([['a', 'F', now, one]], now + 1).trouble, undefined);
      };
      const clean = () => {
        for (let round = 0; round < rounds; round++) history.write([], ++now);
      };
      const set = (ms: number) => {
        if (how === 'before it starts') {
          history.end();
          history.open(now + ms);
        } else history.jump(now, now + ms);
        now += ms;
        history.write([], now);
      };
      const count = (table: string) => history.read(`SELECT count(*) AS count FROM ${table}`)[0]!.count;
      write(9);
      set(by);
      write(2);
      clean();
      set(-by);
      write(9);
      clean();
      t.is(count('change'), 20);
      t.is(history.read('SELECT sum(count) AS count FROM minute')[0]!.count, 20);
      t.true((count('hour') as number) >= 5);
      write(14, hourMs);
      clean();
      t.true((count('change') as number) < 20, `${how}: and what is old goes all the same`);
    }
  });

test('a full history deletes the oldest recordings, and only a part of its minutes when the clock is 20 years ahead', async (t) => {
  const history = await makeHistory(t, { maxSize: 16_000_000, entries: [{ raw: '0', hours: '0' }] });
  const addresses = Array.from({ length: 400 }, (_, index) => `a${index}`);
  let now = start;
  history.open(now);
  const write = (minutes: number) => {
    for (let minute = 0; minute < minutes; minute++, now += 60_000)
      t.is(
        history.write(
          addresses.map((address) => [address, 'F', now, minute]),
          now + 1,
        ).trouble,
        undefined,
      );
  };
  const minutes = () => history.read('SELECT count(*) AS count FROM minute WHERE parameter = 1')[0]!.count as number;
  write(250);
  const before = minutes();
  t.true(before > 200);
  history.jump(now, now + 7300 * day);
  now += 7300 * day;
  write(350);
  t.true(minutes() > 200, `${minutes()} of ${before + 350} minutes`);
});

test('hours that were not noted were over at their end; noted ones are as old as they say', (t) => {
  const noted = [
    [10, 5 * hourMs],
    [20, 40 * hourMs],
    [90, 30 * hourMs],
  ] as const;
  const hours = new AgesOfHours(noted, new Ages(beginAge(100 * hourMs)));
  t.is(hours.notedAt(15), 16 * hourMs);
  t.is(hours.notedAt(90), 30 * hourMs);
  t.deepEqual(hours.upTo(25 * hourMs), [
    { from: Number.NEGATIVE_INFINITY, to: 20 * hourMs },
    { from: 21 * hourMs, to: 25 * hourMs },
  ]);
  t.deepEqual(hours.upTo(35 * hourMs), [
    { from: Number.NEGATIVE_INFINITY, to: 20 * hourMs },
    { from: 21 * hourMs, to: 35 * hourMs },
    { from: 90 * hourMs, to: 91 * hourMs },
  ]);
  t.is(hours.oldestFrom(11), 12 * hourMs);
  t.is(hours.oldestFrom(50), 30 * hourMs);
});
