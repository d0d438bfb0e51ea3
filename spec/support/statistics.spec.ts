import test from 'ava';
import fc from 'fast-check';
import { percentile, sort, summarize } from './statistics.ts';

test('a percentile lies between its neighbours by proportion', (t) => {
  const sorted = [10, 20, 30, 40];
  t.is(percentile(sorted, 0), 10);
  t.is(percentile(sorted, 0.5), 25);
  t.is(percentile(sorted, 0.25), 17.5);
  t.is(percentile(sorted, 1), 40);
  t.is(percentile([7], 0.99), 7);
});

test('a percentile of nothing, or beyond 0..1, is a mistake', (t) => {
  t.throws(() => percentile([], 0.5), { instanceOf: RangeError });
  t.throws(() => percentile([1], 1.01), { instanceOf: RangeError });
  t.throws(() => percentile([1], Number.NaN), { instanceOf: RangeError });
});

test('percentiles grow with their fraction and stay within the samples', (t) => {
  const samples = fc.array(fc.double({ noNaN: true, min: -1e9, max: 1e9 }), { minLength: 1 });
  const fraction = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(samples, fraction, fraction, (values, a, b) => {
      const sorted = sort(values);
      const [low, high] = [percentile(sorted, Math.min(a, b)), percentile(sorted, Math.max(a, b))];
      return low <= high && low >= Math.min(...values) && high <= Math.max(...values);
    }),
  );
  t.pass();
});

test('a summary requires no order, and leaves the samples unchanged', (t) => {
  const samples = [3, 1, 2];
  t.deepEqual(summarize(samples), { median: 2, least: 1, most: 3 });
  t.deepEqual(samples, [3, 1, 2]);
});
