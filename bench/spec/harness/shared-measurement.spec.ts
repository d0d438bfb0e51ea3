// What one measurement says of several contenders is told to each once; a comparison asks the hub alone, round by round.

import test from 'ava';
import { SharedMeasurement } from '../../subjects/rule-growth.ts';

test('all callers share one measurement per round, in any order', async (t) => {
  let count = 0;
  const shared = new SharedMeasurement(async () => ++count);
  const round = (...takers: string[]) => Promise.all(takers.map((taker) => shared.take(taker)));
  t.deepEqual(await round('hub', 'control', 'bare'), [1, 1, 1]);
  t.deepEqual(await round('bare', 'control', 'hub'), [2, 2, 2]);
  t.deepEqual(await round('hub', 'control'), [3, 3]);
});

test('a caller that requires its own measurement gets a new one each time', async (t) => {
  let count = 0;
  const shared = new SharedMeasurement(async () => ++count);
  for (const expected of [1, 2, 3]) t.is(await shared.take('hub'), expected);
});
