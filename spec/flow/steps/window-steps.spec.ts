// Windows, counts and rates in virtual time, compared with a list of all values.

import test from 'ava';
import fc from 'fast-check';
import { runStep, type Timed } from '../../support/flow/step.ts';

const overMs = 100;
const results: Readonly<Record<string, (numbers: readonly number[]) => number>> = {
  min: (numbers) => Math.min(...numbers),
  max: (numbers) => Math.max(...numbers),
  mean: (numbers) => Number((numbers.reduce((sum, number) => sum + number, 0) / numbers.length).toPrecision(12)),
};

/** Values with the time since the previous one; many arrive at once, or just when another one grows too old. */
const values = fc
  .array(fc.tuple(fc.constantFrom(0, 1, 10, 50, 99, 100, 101, 250), fc.integer({ min: -5, max: 5 })), { maxLength: 40 })
  .map((steps): Timed[] => {
    let now = 0;
    return steps.map(([later, value]) => {
      now += later;
      return [now, value / 2];
    });
  });

/** The results of a window over time: for each value, and whenever values that grow too old change the result. */
function model(steps: readonly Timed[], least: number, result: (numbers: readonly number[]) => number): Timed[] {
  const reported: Timed[] = [];
  const end = (steps.at(-1)?.[0] ?? 0) + 2 * overMs;
  for (let now = 0; now <= end; now++) {
    const within = (seen: readonly Timed[]) => {
      const young = seen.filter(([atMs]) => atMs + overMs > now);
      return (young.length < least ? seen.slice(-least) : young).map(([, value]) => value as number);
    };
    const before = steps.filter(([atMs]) => atMs < now);
    if (before.length > 0) {
      const present = result(within(before));
      if (present !== reported.at(-1)![1]) reported.push([now, present]);
    }
    steps.forEach(([atMs], index) => {
      if (atMs === now) reported.push([now, result(within(steps.slice(0, index + 1)))]);
    });
  }
  return reported;
}

for (const [of, result] of Object.entries(results))
  test(`window: gives the ${of} of a period`, (t) => {
    fc.assert(
      fc.property(values, (steps) => {
        const { out } = runStep('window', { of, over: overMs }, steps, 100_000);
        t.deepEqual(out, model(steps, 1, result));
      }),
      { numRuns: 60 },
    );
  });

test('window: gives the min, max and mean of the last values', (t) => {
  fc.assert(
    fc.property(values, fc.integer({ min: 1, max: 6 }), fc.constantFrom('min', 'max', 'mean'), (steps, count, of) => {
      const { out } = runStep('window', { of, count }, steps, 100_000);
      const numbers = steps.map(([, value]) => value as number);
      const expected = steps.map(([atMs], index) => [
        atMs,
        results[of]!(numbers.slice(Math.max(0, index + 1 - count), index + 1)),
      ]);
      t.deepEqual(out as unknown, expected);
    }),
  );
});

test('count: with a duration, counts the values of that period, down to none', (t) => {
  fc.assert(
    fc.property(values, (steps) => {
      const { out } = runStep('count', overMs, steps, 100_000);
      t.deepEqual(
        out,
        model(steps, 0, (numbers) => numbers.length),
      );
    }),
    { numRuns: 60 },
  );
});

test('count: true counts all values', (t) => {
  const { out } = runStep('count', true, [[0, 5], [0, 5], [9, 1]], 10); // biome-ignore format: a row
  t.deepEqual(out, [[0, 1], [0, 2], [9, 3]]); // biome-ignore format: a row
});

test('rate: the change per duration from the previous value; each of several values at one moment counts from before it', (t) => {
  const { out } = runStep('rate', '1s', [[0, 1], [500, 2], [500, 4], [2500, 0]], 5000); // biome-ignore format: a row
  t.deepEqual(out, [[500, 2], [500, 6], [2500, -2]]); // biome-ignore format: a row
});

for (const [name, setting] of [
  ['window', { of: 'max', over: '1h' }],
  ['count', '1h'],
] as const)
  test(`${name}: more than 10,000 values in a period are too many; the oldest one is dropped and reported`, (t) => {
    const steps = Array.from({ length: 10_002 }, (_, index): Timed => [index, -index]);
    const { out, limits } = runStep(name, setting, steps, 20_000);
    t.deepEqual(limits, Array(2).fill(`a ${name} holds 10,000 values at most; the oldest one was dropped`));
    t.deepEqual(out.at(-1), [10_001, name === 'count' ? 10_000 : -2]);
  });
