// A list that begins to move is drawn often. One that goes on moving is drawn rarely.

import test from 'ava';
import {
  calmAfterMs,
  calmRate,
  createPace,
  livelyRate,
  pauseMs,
} from '../../../../lib/console/parameters/list/pace.ts';

test('a continuously changing list is drawn slowly after a while, and often again after a pause', (t) => {
  const pace = createPace();
  const start = 10_000;
  for (let ms = start; ms < start + calmAfterMs; ms += 100) t.is(pace.rateAt(ms), livelyRate);
  let last = start + calmAfterMs;
  for (; last < start + 60_000; last += 1000 / calmRate) t.is(pace.rateAt(last), calmRate);
  t.is(pace.rateAt(last + pauseMs), livelyRate);
});

test('another list is drawn often at first, after any earlier changes', (t) => {
  const pace = createPace();
  pace.rateAt(0);
  for (let ms = 0; ms < 2 * calmAfterMs; ms += 500) pace.rateAt(ms);
  t.is(pace.rateAt(2 * calmAfterMs), calmRate);
  pace.restart();
  t.is(pace.rateAt(2 * calmAfterMs + 1), livelyRate);
});

test('slow drawing does not count as a pause', (t) => {
  t.true(pauseMs > 1000 / calmRate);
});
