// How tests of flow files are run: what a failure shows, and that every test is bounded and has a hub of its own.

import test from 'ava';
import { NEVER } from 'rxjs';
import { z } from 'zod';
import { defineConnectionType } from '../../lib/connections/connection.ts';
import { type FlowTestResult, runFlowTests } from '../../lib/testing/run-tests.ts';
import { maxLinesOfParameter, maxTimelineLines } from '../../lib/testing/test-run.ts';
import { connections, ring, rules, runSteps, types } from '../support/flow/flow-test.ts';
import { createFolder } from '../support/folder.ts';
import { processorTimeOf } from '../support/system/machine.ts';

test('the timeline shows events: time, address, old and new value, and author', async (t) => {
  const { timeline } = await runSteps(
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
    '… 5 others …',
    '0:00:00.000 | desk/text | unknown → "off" | given',
    '0:00:01.000 | desk/text | "off" → "on air" | test',
    '0:00:01.000 | desk/echo | unknown → "on air" | rule "echo"',
    '0:00:03.000 | desk/bell | fired | test',
    '0:00:03.000 | keys/output/f2 | fired | rule "press"',
  ]);
  t.regex(lines.at(-1)!, /^>> \| 0:00:06\.000 \| desk\/echo \| expected "x", got "on air", since 0:00:01\.000 by rule/);
});

test('a failure shows its causes, through rules and connections, and no unrelated changes', async (t) => {
  const { timeline } = await runSteps(t, [ring, { at: '10m', expect: { 'desk/lamp': true } }]);
  const lines = timeline.split('\n').map((line) => line.trim().split(/ {2,}/).slice(1, 3).join(' | '));
  t.deepEqual(lines, [
    '',
    'desk/bell | fired',
    'desk/lamp | false → true',
    'clock/timer/1/start | unknown → 3000',
    'clock/timer/1/trigger | fired',
    'desk/lamp | true → false',
    '0:10:00.000 | desk/lamp',
  ]);
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
    t.regex(timeline, /rule "to a number" \(.*\) failed: desk\/\w+: expected a number, got "loud"/);
});

test('a rule without a result, because it waits for a value, is in the timeline', async (t) => {
  const folder = await createFolder(t, {
    'flow.json5': {
      connections,
      rules: [
        { name: 'sum', from: { count: 'desk/count', level: 'desk/level' }, map: 'count + level', to: 'desk/percent' },
        { name: 'elsewhere', from: { count: 'desk/count', text: 'desk/text' }, map: 'text', to: 'desk/echo' },
      ],
      tests: [{ name: 'it', steps: [{ set: { 'desk/count': 1 }, expect: { 'desk/percent': 1 } }] }],
    },
  });
  for await (const { timeline } of runFlowTests([folder], { types }))
    t.regex(timeline, /\n>> .*expected 1, got unknown.*\n.* rule "sum" waits for desk\/level, which is unknown$/);
});

test('timers that restart one another forever end the test', async (t) => {
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
    t.regex(timeline, /^>> .*virtual time does not advance/m);
    t.true(timeline.split('\n').length <= maxTimelineLines + 1);
  }
});

test.serial('a day with a pulse each minute takes hardly any time, and its timeline is limited', async (t) => {
  let result!: FlowTestResult;
  const tookMs = await processorTimeOf(async () => {
    result = await runSteps(t, [{ at: '1d', expect: { 'clock/pulse/1': 1441 } }]);
  });
  const { isPassed, virtualMs, timeline } = result;
  t.false(isPassed);
  t.is(virtualMs, 86_400_000);
  t.is(timeline.split('\n').length, maxLinesOfParameter + 2);
  t.regex(timeline, /^ {4}… 1421 others …\n {4}23:41:00\.000 {2}clock\/pulse\/1/);
  t.log(`${tookMs.toFixed(1)} ms`);
  t.true(tookMs < 1000);
});

test('each test has its own hub', async (t) => {
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

test('a test runs the rules that may lead to its expectations, through connections too, and all of them once it fails', async (t) => {
  const expecting = (value: number) => [
    { set: { 'desk/a': 1 }, expect: { 'desk/b': value }, during: 1000, never: { 'desk/sum': 5 } },
  ];
  const folder = await createFolder(t, {
    'flow.json5': {
      connections: {
        desk: { type: 'dummy', parameters: ['a,F', 'b,F', 'factor,F,2', 'sum,F', 'loop,F,0', 'other,F'] },
        core: { type: 'virtual-core', inputs: { a: 'desk/a' }, outputs: { twice: { type: 'F', expression: 'a * 2' } } },
        idle: {
          type: 'virtual-core',
          inputs: { other: 'desk/other' },
          outputs: { more: { type: 'F', expression: 'other + 1' } },
        },
      },
      rules: [
        { from: 'core/twice', map: "value * param('desk/factor')", to: 'desk/b' },
        { from: 'desk/b', to: 'desk/sum' },
        { name: 'loop', from: 'desk/loop', atStart: true, map: 'value + 1', pipe: [{ delay: 0 }], to: 'desk/loop' },
      ],
      tests: [
        { name: 'without the loop', steps: expecting(4) },
        { name: 'with all rules', steps: expecting(5) },
      ],
    },
  });
  const results: FlowTestResult[] = [];
  for await (const result of runFlowTests([folder])) results.push(result);
  t.deepEqual(
    results.map(({ isPassed }) => isPassed),
    [true, false],
  );
  t.regex(results[1]!.timeline, /virtual time does not advance/);
});

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

test('a missing path is a failure', async (t) => {
  for await (const { isPassed, timeline } of runFlowTests(['no-such-file.json5'])) {
    t.false(isPassed);
    t.regex(timeline, /nothing with this name exists/);
  }
});

test('a connection type that is not external runs', async (t) => {
  let starts = 0;
  const lamp = defineConnectionType({
    type: 'lamp',
    isExternal: false,
    settingsSchema: z.strictObject({}),
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
