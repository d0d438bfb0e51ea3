// Tests of flow files: what each kind of step means, what a failure shows, and that every test is bounded.

import test, { type ExecutionContext } from 'ava';
import { NEVER, Observable } from 'rxjs';
import { z } from 'zod';
import { defineConnectionType } from '../../lib/connections/connection.ts';
import { connectionTypes } from '../../lib/connections/registry.ts';
import { type FlowTestResult, runFlowTests } from '../../lib/testing/run-tests.ts';
import { maxTimelineLines } from '../../lib/testing/timeline.ts';
import { createFolder } from '../support/folder.ts';

/** A keyboard as far as tests go: it must not be started. */
const keys = defineConnectionType({
  type: 'keys',
  isExternal: true,
  config: z.strictObject({}),
  parameters: () => [
    { id: 'input/f1', type: 'T', access: 'read-only' },
    { id: 'layout', type: 'S', access: 'read-only' },
    { id: 'output/f2', type: 'T', access: 'write-only' },
  ],
  run: () =>
    new Observable(() => {
      throw new Error('started');
    }),
});
const types = new Map([...connectionTypes, ['keys', keys]]);

const connections = {
  desk: {
    type: 'dummy',
    parameters: ['bell,T', 'lamp,B,false', 'level,F', 'percent,F', 'text,S', 'count,I', 'echo,S'],
  },
  clock: { type: 'timer', timers: [3000, 0], pulses: [{ interval: 60_000 }] },
  keys: { type: 'keys', statusParameter: true },
};
const rules = [
  { name: 'bell on', from: 'desk/bell', map: 'true', to: 'desk/lamp' },
  { name: 'bell timer', from: 'desk/bell', map: '3000', to: 'clock/timer/1/start' },
  { name: 'bell off', from: 'clock/timer/1/trigger', map: 'false', to: 'desk/lamp' },
  { name: 'percent', from: 'desk/level', map: 'value * 100', to: 'desk/percent' },
  { name: 'echo', from: 'desk/text', to: 'desk/echo' },
  { name: 'hotkey', from: 'keys/input/f1', map: '"pressed"', to: 'desk/text' },
  { name: 'layout', from: 'keys/layout', to: 'desk/text' },
  { name: 'press', from: 'desk/bell', to: 'keys/output/f2' },
];

async function run(t: ExecutionContext, steps: object[], given: object = {}): Promise<FlowTestResult> {
  const flow = { connections, rules, tests: [{ name: 'it', given, steps }] };
  const folder = await createFolder(t, { 'flow.json5': flow });
  const results = [];
  for await (const result of runFlowTests([folder], { types })) results.push(result);
  t.is(results.length, 1);
  return results[0]!;
}

const ring = { set: { 'desk/bell': true } };

const passing: Record<string, [steps: object[], given?: object]> = {
  'timers of a step’s time run before it, and what it sets at once before it expects': [
    [
      { at: 0, ...ring, expect: { 'desk/lamp': true } },
      { at: '2999ms', expect: { 'desk/lamp': true } },
      { at: '3s', expect: { 'desk/lamp': false } },
    ],
  ],
  'a step without a time is at that of the step before': [
    [{ at: '1s', ...ring }, { expect: { 'desk/lamp': true } }, { at: '3.999s', expect: { 'desk/lamp': true } }],
  ],
  'timers of 0 ms run out within the step that starts them': [
    [{ set: { 'clock/timer/2/start': 0 }, expect: { 'clock/timer/2/trigger': true } }],
  ],
  'values are converted': [
    [{ set: { 'desk/level': '0.5', 'desk/text': 7 }, expect: { 'desk/percent': '50', 'desk/echo': '7' } }],
  ],
  'numbers that differ by rounding alone are equal': [
    [{ set: { 'desk/level': 0.29 }, expect: { 'desk/percent': 29 } }],
  ],
  'null is unknown': [[{ expect: { 'desk/level': null, 'desk/percent': null } }]],
  'values are set one after the other': [
    [{ set: { 'desk/text': 'a', 'desk/echo': 'b' }, expect: { 'desk/echo': 'b', 'desk/text': 'a' } }],
  ],
  'given values fire no rule and are there from the start': [
    [{ expect: { 'desk/text': 'hello', 'desk/echo': null, 'desk/lamp': true } }],
    { 'desk/text': 'hello', 'desk/lamp': true },
  ],
  'a trigger has fired since the last step that expected something': [
    [
      { ...ring, expect: { 'clock/timer/1/trigger': false, 'desk/bell': true } },
      { at: '4s', ...ring },
      { at: '5s', expect: { 'clock/timer/1/trigger': true, 'desk/bell': 1 } },
      { at: '6s', expect: { 'clock/timer/1/trigger': 0, 'desk/bell': false } },
    ],
  ],
  'a trigger is counted': [[{ at: '10m', expect: { 'clock/pulse/1': 10 } }]],
  'never does not include the end of its span': [
    [ring, { during: '3s', never: { 'desk/lamp': false } }, { at: '3s', expect: { 'desk/lamp': false } }],
  ],
  'never of a trigger is that it has fired': [
    [
      ring,
      { during: '3s', never: { 'clock/timer/1/trigger': true } },
      { at: '3s', expect: { 'clock/timer/1/trigger': 1 } },
    ],
  ],
  'spans overlap later steps': [
    [
      { ...ring, during: '4s', never: { 'desk/text': 'x' } },
      { at: '1s', ...ring },
      { at: '3500ms', expect: { 'desk/lamp': true } },
    ],
  ],
  'what only the outside world sets is set by the test, and not started': [
    [
      { set: { 'keys/input/f1': true }, expect: { 'desk/echo': 'pressed' } },
      { set: { 'keys/layout': 'de' }, expect: { 'desk/echo': 'de', 'keys/layout': 'de' } },
      { ...ring, expect: { 'keys/output/f2': 1 } },
      { expect: { 'keys/_status/connected': true } },
      { set: { 'keys/_status/connected': false }, expect: { 'keys/_status/connected': false } },
    ],
    { 'keys/layout': 'us' },
  ],
};
for (const [name, [steps, given]] of Object.entries(passing))
  test(name, async (t) => {
    const { isPassed, timeline } = await run(t, steps, given);
    t.true(isPassed, timeline);
    t.is(timeline, '');
  });

const failing: Record<string, [steps: object[], mark: RegExp, given?: object]> = {
  'a value that is not as expected': [
    [
      { at: 0, ...ring },
      { at: '1s', expect: { 'desk/lamp': false } },
    ],
    /^>> {2}0:00:01\.000 {2}desk\/lamp +expected false, got true, since 0:00:00\.000 by rule "bell on" \(.*flow\.json5:\d+:\d+\)$/m,
  ],
  'an unknown value': [[{ expect: { 'desk/percent': 3 } }], /^>> .*desk\/percent +expected 3, got unknown \(/m],
  'a known value that shall be unknown': [
    [{ expect: { 'desk/lamp': null } }],
    /^>> .*desk\/lamp +expected unknown, got false, since 0:00:00\.000 by connection "desk" \(/m,
  ],
  'a trigger that has not fired': [
    [
      { ...ring, at: '1s' },
      { at: '3999ms', expect: { 'clock/timer/1/trigger': true } },
    ],
    /^>> {2}0:00:03\.999 {2}clock\/timer\/1\/trigger +expected fired, got not fired/m,
  ],
  'a trigger that has fired': [
    [ring, { at: '3s', expect: { 'clock/timer/1/trigger': false } }],
    /expected not fired, got fired once/,
  ],
  'a trigger that has fired too often': [
    [{ at: '3m', expect: { 'clock/pulse/1': 2 } }],
    /expected fired 2 times, got fired 3 times/,
  ],
  'never, from the start': [[{ during: 1, never: { 'desk/lamp': false } }], /expected never false, got it/],
  'never, in passing': [
    [
      { during: '10s', never: { 'desk/lamp': true } },
      { at: '5s', ...ring },
      { at: '9s', expect: { 'desk/lamp': false } },
    ],
    /^>> {2}0:00:05\.000 {2}desk\/lamp +expected never true, got it/m,
  ],
  'never of a trigger': [
    [{ ...ring, during: '3001ms', never: { 'clock/timer/1/trigger': true } }],
    /^>> {2}0:00:03\.000 {2}clock\/timer\/1\/trigger +expected never fired, got it/m,
  ],
};
for (const [name, [steps, mark, given]] of Object.entries(failing))
  test(`fails: ${name}`, async (t) => {
    const { isPassed, timeline } = await run(t, steps, given);
    t.false(isPassed);
    t.regex(timeline, mark);
  });

test('the timeline tells what happened: time, address, old and new value, and who', async (t) => {
  const { timeline } = await run(
    t,
    [
      { at: '1s', set: { 'desk/text': 'on air' } },
      { at: '3s', ...ring },
      { at: '6s', expect: { 'desk/echo': 'x' } },
    ],
    { 'desk/text': 'off' },
  );
  const lines = timeline.split('\n').map((line) => line.trim().split(/ {2,}/).join(' | '));
  t.deepEqual(lines.slice(0, -1), [
    '0:00:00.000 | desk/text | unknown → "off" | given',
    '0:00:00.000 | keys/_status/connected | false → true | connection "keys"',
    '0:00:01.000 | desk/text | "off" → "on air" | test',
    '0:00:01.000 | desk/echo | unknown → "on air" | rule "echo"',
    '0:00:03.000 | desk/bell | fired | test',
    '0:00:03.000 | desk/lamp | false → true | rule "bell on"',
    '0:00:03.000 | clock/timer/1/start | unknown → 3000 | rule "bell timer"',
    '0:00:03.000 | keys/output/f2 | fired | rule "press"',
    '0:00:06.000 | clock/timer/1/trigger | fired | connection "clock"',
    '0:00:06.000 | desk/lamp | true → false | rule "bell off"',
  ]);
  t.regex(lines.at(-1)!, /^>> \| 0:00:06\.000 \| desk\/echo \| expected "x", got "on air", since 0:00:01\.000 by rule/);
});

test('a fault of a rule is in the timeline', async (t) => {
  const [folder] = [
    await createFolder(t, {
      'flow.json5': {
        connections,
        rules: [{ name: 'to a number', from: 'desk/text', to: 'desk/count' }],
        tests: [{ name: 'it', steps: [{ set: { 'desk/text': 'loud' }, expect: { 'desk/count': 1 } }] }],
      },
    }),
  ];
  for await (const { timeline } of runFlowTests([folder!], { types }))
    t.regex(timeline, /rule "to a number" \(.*\) failed: expected a number, got "loud"/);
});

test('timers that start one another at once for ever end the test', async (t) => {
  const folder = await createFolder(t, {
    'flow.json5': {
      connections,
      rules: [{ name: 'for ever', from: 'clock/timer/2/trigger', map: '0', to: 'clock/timer/2/start' }],
      tests: [
        { name: 'it', steps: [{ set: { 'clock/timer/2/start': 0 } }, { at: '1s', expect: { 'desk/lamp': true } }] },
      ],
    },
  });
  for await (const { timeline } of runFlowTests([folder], { types })) {
    t.regex(timeline, /^>> .*the time stands still/m);
    t.true(timeline.split('\n').length <= maxTimelineLines + 1);
  }
});

test.serial('a day of a pulse each minute takes no time to speak of, and its timeline is bounded', async (t) => {
  const startedAt = performance.now();
  const { isPassed, virtualMs, timeline } = await run(t, [
    { at: '1d', expect: { 'clock/pulse/1': 1440, 'desk/lamp': true } },
  ]);
  const tookMs = performance.now() - startedAt;
  t.false(isPassed);
  t.is(virtualMs, 86_400_000);
  t.is(timeline.split('\n').length, maxTimelineLines + 1);
  t.regex(timeline, /^ {4}… 1242 earlier …\n {4}20:42:00\.000 {2}clock\/pulse\/1/);
  t.log(`${tookMs.toFixed(1)} ms`);
  t.true(tookMs < 1000);
});

test('each test has a hub of its own', async (t) => {
  const steps = [{ expect: { 'desk/text': null } }, { set: { 'desk/text': 'x' }, expect: { 'desk/echo': 'x' } }];
  const folder = await createFolder(t, {
    'flow.json5': {
      connections,
      rules,
      tests: [
        { name: 'first', steps },
        { name: 'second', steps },
      ],
    },
  });
  const results = [];
  for await (const result of runFlowTests([folder], { types })) results.push(result);
  t.deepEqual(
    results.map(({ name, isPassed }) => [name, isPassed]),
    [
      ['first', true],
      ['second', true],
    ],
  );
});

const halves = {
  'a.json5': { connections: { desk: { type: 'dummy', parameters: ['a,I', 'b,I'] } } },
  'b.json5': {
    rules: [{ from: 'desk/a', to: 'desk/b' }],
    tests: [{ name: 'b follows a', steps: [{ set: { 'desk/a': 3 }, expect: { 'desk/b': 3 } }] }],
  },
};

test('files are tested one by one, or together', async (t) => {
  const folder = await createFolder(t, halves);
  const results = [];
  for await (const result of runFlowTests([folder])) results.push(result);
  t.is(results.length, 1);
  t.false(results[0]!.isPassed);
  t.regex(results[0]!.timeline, /unknown connection "desk"/);
  for await (const { name, isPassed } of runFlowTests([folder], { isTogether: true })) {
    t.is(name, 'b follows a');
    t.true(isPassed);
  }
});

test('a path that is not there is a failure', async (t) => {
  for await (const { isPassed, timeline } of runFlowTests(['no-such-file.json5'])) {
    t.false(isPassed);
    t.regex(timeline, /there is none of this name/);
  }
});

test('a connection type that is not external runs', async (t) => {
  let starts = 0;
  const lamp = defineConnectionType({
    type: 'lamp',
    config: z.strictObject({}),
    parameters: () => [],
    run: () => {
      starts++;
      return NEVER;
    },
  });
  const folder = await createFolder(t, {
    'flow.json5': {
      connections: { lamp: { type: 'lamp' }, desk: { type: 'dummy', parameters: ['a'] } },
      tests: [{ name: 'it', steps: [{ expect: { 'desk/a': null } }] }],
    },
  });
  for await (const { isPassed } of runFlowTests([folder], { types: new Map([...types, ['lamp', lamp]]) }))
    t.true(isPassed);
  t.is(starts, 1);
});
