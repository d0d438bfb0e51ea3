// Each limit of flow files has its own message. The limits of running rules are in run/rules/limits.spec.ts.

import test from 'ava';
import { mistakesOf } from '../../support/core.ts';

const many = <Item>(count: number, make: (index: number) => Item) => Array.from({ length: count }, (_, n) => make(n));
const byName = (count: number, item: object) => Object.fromEntries(many(count, (index) => [`x${index}`, item]));
const desk = { type: 'dummy', parameters: ['a,B', 'b,B'] };
const connection = (settings: object) => ({ connections: { desk, it: settings } });
const rule = { from: 'desk/a', to: 'desk/b' };
const schedule = (entries: object) => connection({ type: 'schedule', zone: 'UTC', entries });

const limits: readonly (readonly [sentence: string, flow: () => object])[] = [
  [
    'connections.it.alarms: expected at most 10000 alarms, got 10001',
    () => connection({ type: 'alarms', alarms: byName(10_001, { when: 'desk/a' }) }),
  ],
  ['connections.it.entries: expected at most 1000 entries, got 1001', () => schedule(byName(1001, { at: '06:00' }))],
  [
    'connections.it.entries.x.dates: expected at most 1000 dates',
    () => schedule({ x: { dates: many(1001, () => '2026-12-24') } }),
  ],
  [
    'connections.it.parameters[0]: expected a Parameter ID of at most 255 characters, got ',
    () => connection({ type: 'dummy', parameters: ['x'.repeat(256)] }),
  ],
  [
    'rules[0].name: expected at most 64 MB of text from `each` and `instances` combined in one file, got more',
    () => ({
      ...connection(desk),
      rules: [{ each: { n: many(65, (n) => n) }, ...rule, name: `\${n}${'x'.repeat(2 ** 20)}` }],
    }),
  ],
  [
    'rules[0].pipe[0].average: expected `over` to be at least as long as `every`, and at most 1,000 times as long',
    () => ({ ...connection(desk), rules: [{ ...rule, pipe: [{ average: { over: '1h', every: '1s' } }] }] }),
  ],
  [
    'rules[0].pipe[0].repeat: expected at least 10 ms, got 5',
    () => ({ ...connection(desk), rules: [{ ...rule, pipe: [{ repeat: 5 }] }] }),
  ],
];

for (const [sentence, flow] of limits)
  test(`limit: ${sentence}`, async (t) => {
    const reported = await mistakesOf(t, flow());
    t.is(reported.length, 1, reported.join('\n').slice(0, 1000));
    t.true(reported[0]?.startsWith(sentence), reported[0]?.slice(0, 1000));
  });
