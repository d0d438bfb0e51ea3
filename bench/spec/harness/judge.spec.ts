import test from 'ava';
import fc from 'fast-check';
import { judgeDifference, skippedAtEachEnd } from '../../harness/judge.ts';

const before = [100, 102, 98, 101, 99, 100, 103];
const times = (factor: number) => before.map((value) => value * factor);

test('a difference in every round counts, in the direction that is better', (t) => {
  t.is(judgeDifference(before, times(1.1), 'more').verdict, 'better');
  t.is(judgeDifference(before, times(1.1), 'less').verdict, 'worse');
  t.is(judgeDifference(before, times(0.9), 'more').verdict, 'worse');
  t.is(judgeDifference(before, times(0.9), 'less').verdict, 'better');
});

test('less than 3 % is no difference, and neither are rounds that disagree', (t) => {
  t.is(judgeDifference(before, times(1.02), 'more').verdict, 'no difference');
  const disagreeing = before.map((value, round) => value * (round === 0 ? 0.99 : 1.2));
  const judgement = judgeDifference(before, disagreeing, 'more');
  t.is(judgement.verdict, 'no difference');
  t.true(judgement.median > 1.19 && judgement.low < 1);
});

test('fewer than six rounds with both figures decide nothing', (t) => {
  t.is(judgeDifference(before.slice(0, 5), times(2), 'more').verdict, 'undecided');
  const missing = times(2).map((value, round) => (round < 2 ? undefined : value));
  t.is(judgeDifference(before, missing, 'more').verdict, 'undecided');
  t.is(judgeDifference([], [], 'more').verdict, 'undecided');
});

test('noise is how much neighbouring rounds of the same hub differ', (t) => {
  t.is(judgeDifference([4, 5, 4, 5], [], 'more').noise, 0.25);
  t.is(judgeDifference([5, 5, 5], [], 'more').noise, 0);
});

test('how many ratios may be left out: the interval holds the median with at least 95 %', (t) => {
  t.deepEqual([1, 5, 6, 8, 9, 11, 12].map(skippedAtEachEnd), [undefined, undefined, 0, 0, 1, 1, 2]);
});

test('two equal hubs are rarely reported as different', (t) => {
  const figures = fc.array(fc.double({ min: 90, max: 110, noNaN: true }), { minLength: 7, maxLength: 7 });
  let reported = 0;
  let runs = 0;
  fc.assert(
    fc.property(figures, figures, (one, other) => {
      runs++;
      if (judgeDifference(one, other, 'more').verdict !== 'no difference') reported++;
    }),
    { numRuns: 2000, seed: 1 },
  );
  t.true(reported / runs < 0.05, `${reported} of ${runs}`);
});
