// Means over time, ramps and repetitions in virtual time, compared with simple models.

import test from 'ava';
import fc from 'fast-check';
import { testFlow } from '../../../lib/index.ts';
import { runStep, type Timed } from '../../support/flow/step.ts';

const overMs = 1000;
const everyMs = 100;

const values = fc
  .array(fc.tuple(fc.constantFrom(1, 50, 100, 333, 1000, 1099, 1200, 5000), fc.integer({ min: -3, max: 3 })), {
    minLength: 1,
    maxLength: 12,
  })
  .map((steps): Timed[] => {
    let now = 0;
    return steps.map(([later, value]) => {
      now += later;
      return [now, value * 2];
    });
  });

/** The mean of the value in each millisecond of the last period, as far as there was a value. */
function meanAt(steps: readonly Timed[], now: number): number {
  let [sum, count] = [0, 0];
  for (let ms = Math.max(steps[0]![0], now - overMs); ms < now; ms++) {
    sum += steps.findLast(([atMs]) => atMs <= ms)![1] as number;
    count++;
  }
  return Number((sum / count).toPrecision(12));
}

test('average: each emitted value is the mean over the last period, ten times per period, until the value is reached', (t) => {
  fc.assert(
    fc.property(values, (steps) => {
      const [first] = steps as [Timed];
      const lastAt = steps.at(-1)![0];
      const { out } = runStep('average', '1s', steps, lastAt + 10_000);
      t.deepEqual(out[0], first);
      for (const [atMs, mean] of out.slice(1))
        t.is(mean, meanAt(steps, atMs), `at ${atMs} of ${JSON.stringify(steps)}`);
      for (const [index, [atMs]] of out.entries()) {
        const before = out[index - 1];
        if (before !== undefined) t.not(out[index]![1], before[1], 'it does not repeat itself');
        t.true(atMs <= lastAt + overMs + 2 * everyMs, 'it comes to rest');
      }
      t.is(out.at(-1)![1], steps.at(-1)![1]);
    }),
    { numRuns: 60 },
  );
});

test('average: a change is visible at the next tenth, and at each one after it', (t) => {
  const { out } = runStep('average', { over: '1s', every: '250ms' }, [[0, 8], [5000, 0]], 9000); // biome-ignore format: a row
  t.deepEqual(out, [[0, 8], [5250, 6], [5500, 4], [5750, 2], [6000, 0]]); // biome-ignore format: a row
});

test('ramp: moves from the present value to each new one, and ends exactly on it', (t) => {
  fc.assert(
    fc.property(values, (steps) => {
      const { out } = runStep('ramp', { over: overMs, every: everyMs }, steps, 1_000_000);
      const expected: Timed[] = [[steps[0]![0], steps[0]![1]]];
      for (const [index, [atMs, target]] of steps.entries()) {
        const start = expected.at(-1)![1] as number;
        const until = steps[index + 1]?.[0] ?? Infinity;
        if (index === 0 || start === target) continue;
        for (let ms = everyMs; ms <= overMs && atMs + ms <= until; ms += everyMs)
          expected.push([atMs + ms, ms === overMs ? target : start + ((target as number) - start) * (ms / overMs)]);
      }
      t.deepEqual(out, expected);
    }),
    { numRuns: 60 },
  );
});

test('ramp: a plain number is milliseconds, with a step every 50', (t) => {
  const { out } = runStep('ramp', 120, [[0, 0], [10, 12]], 1000); // biome-ignore format: a row
  t.deepEqual(out, [[0, 0], [60, 5], [110, 10], [160, 12]]); // biome-ignore format: a row
});

test('repeat: repeats at every interval, counted from each new value', (t) => {
  const { out } = runStep('repeat', 100, [[0, 1], [250, 2]], 470); // biome-ignore format: a row
  t.deepEqual(out, [[0, 1], [100, 1], [200, 1], [250, 2], [350, 2], [450, 2]]); // biome-ignore format: a row
});

test('switchMap: its steps restart with each value', async (t) => {
  const count = { scan: { seed: 0, expression: 'sum + 1' } };
  const flow = await testFlow({
    connections: { desk: { type: 'dummy', parameters: ['go,I', 'count,I', 'late,I'] } },
    rules: [
      {
        from: 'desk/go',
        pipe: [{ switchMap: [{ repeat: '1s' }, count, { takeWhile: 'value <= 3' }] }],
        to: 'desk/count',
      },
      { from: 'desk/go', pipe: [{ switchMap: [{ debounceTime: '1s' }, { map: 'value * 2' }] }], to: 'desk/late' },
    ],
  });
  const counts = (...expected: number[]) => {
    for (const [index, count] of expected.entries()) {
      if (index > 0) flow.advance('1s');
      flow.expect({ 'desk/count': count });
    }
  };
  flow.set({ 'desk/go': 5 });
  flow.expect({ 'desk/late': null });
  counts(1, 2, 3, 3);
  flow.expect({ 'desk/late': 10 });
  flow.set({ 'desk/go': 6 });
  counts(1, 2);
  flow.set({ 'desk/go': 7 });
  t.notThrows(() => counts(1, 2, 3, 3, 3));
  await flow.stop();
});

const mistakes: [pipe: object, mistake: RegExp][] = [
  [{ average: 5 }, /average: expected at least 10 ms, got 5/],
  [
    { average: { over: '1s', every: '2s' } },
    /average: expected `over` to be at least as long as `every`, and at most 1,000 times as long/,
  ],
  [
    { ramp: { over: '1h', every: '1s' } },
    /ramp: expected `over` to be at least as long as `every`, and at most 1,000 times as long/,
  ],
  [{ ramp: true }, /ramp: expected "2s" or \{ over: "2s", every: "50ms" \}, got true/],
  [{ window: { of: 'max' } }, /window: expected either `over` or `count`/],
  [{ window: { of: 'sum', count: 2 } }, /window\.of: expected min, max or mean, got "sum"/],
  [{ repeat: 0 }, /repeat: expected at least 10 ms, got 0/],
  [{ switchMap: [] }, /switchMap: expected a list of steps/],
  [{ switchMap: [{ delai: 5 }] }, /switchMap\[0\]\.delai: unknown step "delai", did you mean "delay"\?/],
  [{ switchMap: [{ filter: 'velue > 1' }] }, /switchMap\[0\]\.filter: .*did you mean "value"\?/],
];

for (const [step, mistake] of mistakes)
  test(`refuses ${JSON.stringify(step)}`, async (t) => {
    const connections = { desk: { type: 'dummy', parameters: ['a,F', 'b,F'] } };
    const rules = [{ from: 'desk/a', pipe: [step], to: 'desk/b' }];
    const error = await t.throwsAsync(testFlow({ connections, rules }));
    t.regex(error!.message, mistake);
    t.is(error!.message.split('\n').length, 1, error!.message);
  });

test('onDelay and offDelay delay one of true and false, and a repeated value does not restart their time', (t) => {
  const values: Timed[] = [[0, false], [10, true], [20, true], [109, false], [200, true], [250, true], [400, false], [401, true], [600, false]]; // biome-ignore format: a row
  t.deepEqual(runStep('onDelay', 100, values, 1000, { type: 'B' }).out, [[0, false], [109, false], [300, true], [400, false], [501, true], [600, false]]); // biome-ignore format: a row
  t.deepEqual(runStep('offDelay', 100, values, 1000, { type: 'B' }).out, [[10, true], [200, true], [401, true], [700, false]]); // biome-ignore format: a row
  t.throws(() => runStep('onDelay', 100, [], 1, { type: 'S' }), { message: /expected true or false, got text/ });
});
