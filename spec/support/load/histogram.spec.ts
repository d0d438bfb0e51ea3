import test from 'ava';
import { Histogram } from './histogram.ts';

test('percentiles are the upper ends of steps of a tenth of a millisecond', (t) => {
  const histogram = new Histogram();
  for (let tenth = 0; tenth < 1000; tenth++) histogram.add(tenth / 10 + 0.05);
  t.is(histogram.total, 1000);
  t.is(histogram.percentile(0.5), 50);
  t.is(histogram.percentile(0.99), 99);
  t.is(histogram.percentile(1), 100);
});

test('values out of range count at the end of the range, and an empty histogram has no percentile', (t) => {
  const histogram = new Histogram();
  t.is(histogram.percentile(0.5), Number.NaN);
  histogram.add(-1);
  histogram.add(1e9);
  t.is(histogram.percentile(0.5), 0.1);
  t.true(histogram.percentile(1) >= 10_000);
  histogram.clear();
  t.is(histogram.total, 0);
});
