import test from 'ava';
import fc from 'fast-check';
import { Backoff } from '../../../lib/model/time/backoff.ts';

const times = { firstMs: 1000, longestMs: 10_000, provenMs: 60_000 };

function pausesOf(backoff: Backoff, count: number): number[] {
  return Array.from({ length: count }, () => backoff.next());
}

test('pauses double up to the longest', (t) => {
  t.deepEqual(pausesOf(new Backoff(times), 6), [1000, 2000, 4000, 8000, 10_000, 10_000]);
});

test('after a success the first pause follows', (t) => {
  const backoff = new Backoff(times);
  pausesOf(backoff, 5);
  backoff.reset();
  t.deepEqual(pausesOf(backoff, 2), [1000, 2000]);
});

test('a run that was long enough resets the backoff', (t) => {
  const backoff = new Backoff(times);
  pausesOf(backoff, 5);
  backoff.ran(59_999);
  t.is(backoff.next(), 10_000);
  backoff.ran(60_000);
  t.deepEqual(pausesOf(backoff, 2), [1000, 2000]);
});

test('without a minimum duration a run never resets the backoff', (t) => {
  const backoff = new Backoff({ firstMs: 500, longestMs: 5000 });
  pausesOf(backoff, 9);
  backoff.ran(1e12);
  t.is(backoff.next(), 5000);
});

test('after any number of failures, a pause is between the first and the longest', (t) => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 0, max: 1e6 }), (firstMs, more) => {
      const pauses = pausesOf(new Backoff({ firstMs, longestMs: firstMs + more }), 2000);
      return pauses.every((pause, index) => pause >= (pauses[index - 1] ?? firstMs) && pause <= firstMs + more);
    }),
  );
  t.pass();
});
