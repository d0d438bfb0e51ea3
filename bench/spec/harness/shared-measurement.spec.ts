// What one measurement says of several contenders is told to each once; a comparison asks the hub alone, round by round.

import test from 'ava';
import { SharedMeasurement } from '../../subjects/rule-growth.ts';

test('each round is measured once for all who take it, in whatever order', async (t) => {
  let count = 0;
  const shared = new SharedMeasurement(async () => ++count);
  const round = (...takers: string[]) => Promise.all(takers.map((taker) => shared.take(taker)));
  t.deepEqual(await round('hub', 'control', 'bare'), [1, 1, 1]);
  t.deepEqual(await round('bare', 'control', 'hub'), [2, 2, 2]);
  t.deepEqual(await round('hub', 'control'), [3, 3]);
});

test('who takes it alone gets another measurement each time', async (t) => {
  let count = 0;
  const shared = new SharedMeasurement(async () => ++count);
  for (const expected of [1, 2, 3]) t.is(await shared.take('hub'), expected);
});
