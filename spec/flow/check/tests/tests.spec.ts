// Errors in the tests of flow files, all of them at once.

import test from 'ava';
import { loadFlows } from '../../../../lib/hub/index.ts';
import { createFolder } from '../../../support/folder.ts';

const connections = {
  desk: { type: 'dummy', parameters: ['lamp,B', 'level,F', 'bell,T'] },
  clock: { type: 'timer', timers: [1000] },
  out: { type: 'xml-file-output', filename: 'out.xml', template: '<a>$Title</a>' },
};
const expect = { 'desk/lamp': true };

const rows: Record<string, [test: unknown, mistakes: RegExp[]]> = {
  'a test that is not an object': ['x', [/tests\[0\]: expected object { … }, got "x" \(string\)$/]],
  'no name': [
    { steps: [{ expect }] },
    [/tests\[0\]\.name: expected a description of the tested behaviour, got nothing$/],
  ],
  'no steps': [{ name: 'a', steps: [] }, [/tests\[0\]\.steps: expected at least one step, got \[\] \(array\)$/]],
  'an unknown key': [
    { name: 'a', steps: [{ expcet: {}, expect }] },
    [/tests\[0\]\.steps\[0\]\.expcet: unknown setting "expcet", did you mean "expect"\?$/],
  ],
  'unknown addresses': [
    { name: 'a', given: { 'desk/lamb': true }, steps: [{ set: { 'dask/lamp': 1 }, expect: { 'desk/levl': 1 } }] },
    [
      /tests\[0\]\.given\["desk\/lamb"\]: unknown parameter "desk\/lamb", did you mean "desk\/lamp"\?$/,
      /tests\[0\]\.steps\[0\]\.set\["dask\/lamp"\]: unknown connection "dask", did you mean "desk"\? \(address "dask\/lamp"\)$/,
      /tests\[0\]\.steps\[0\]\.expect\["desk\/levl"\]: unknown parameter "desk\/levl", did you mean "desk\/level"\?$/,
    ],
  ],
  'values that do not convert': [
    {
      name: 'a',
      given: { 'desk/level': 'loud', 'desk/bell': 1 },
      steps: [
        { set: { 'clock/timer/1/start': -1 }, expect: { 'desk/bell': 1.5 } },
        { during: '1s', never: { 'desk/bell': false } },
      ],
    },
    [
      /given\["desk\/level"\]: expected a number, got "loud" \(string\)$/,
      /given\["desk\/bell"\]: expected a parameter with a state, but "desk\/bell" is a trigger$/,
      /set\["clock\/timer\/1\/start"\]: expected a duration of 0\.\.2147483647 ms, got -1 \(number\)$/,
      /expect\["desk\/bell"\]: expected true, false or the number of times the trigger fired, got 1\.5 \(number\)$/,
      /never\["desk\/bell"\]: expected true, meaning that the trigger fired, got false \(boolean\)$/,
    ],
  ],
  'a set of a parameter that a running connection sets': [
    { name: 'a', steps: [{ set: { 'clock/timer/1/trigger': true }, expect }] },
    [
      /expected a parameter that a test can set, but "clock\/timer\/1\/trigger" is read-only: only its connection can set it$/,
    ],
  ],
  'a start without a zone': [
    { name: 'a', start: '2026-03-28T22:00', steps: [{ expect }] },
    [
      /tests\[0\]\.start: expected a time such as "2026-03-28T23:00\+01:00" or "2026-03-28T22:00Z", got "2026-03-28T22:00"/,
    ],
  ],
  'a start on 30 February': [
    { name: 'a', start: '2026-02-30T22:00Z', steps: [{ expect }] },
    [/tests\[0\]\.start: expected a time such as .*, got "2026-02-30T22:00Z"/],
  ],
  'bad times': [
    {
      name: 'a',
      steps: [
        { at: '5s', expect },
        { at: '4s', expect },
        { at: 'noon', expect },
      ],
    },
    [
      /steps\[1\]\.at: expected a time of at least 5000 ms, the time of the previous step, got "4s" \(string\)$/,
      /steps\[2\]\.at: expected milliseconds or a duration such as '1m30s', got "noon" \(string\)$/,
    ],
  ],
  'a time of another type': [
    { name: 'a', steps: [{ at: true, expect }] },
    [/steps\[0\]\.at: expected milliseconds or a duration such as '1m30s', got true \(boolean\)$/],
  ],
  'a never without during, and the reverse': [
    { name: 'a', steps: [{ during: '1s', expect }, { never: { 'desk/lamp': true } }] },
    [
      /steps\[0\]: expected `during` and `never` together, got only one of them$/,
      /steps\[1\]: expected `during` and `never` together, got only one of them$/,
    ],
  ],
  'a test that cannot fail': [
    { name: 'a', steps: [{ set: { 'desk/lamp': true } }, { at: '1s' }] },
    [/steps\[1\]: expected `set`, `expect` or `never` in a step, got none of them$/, /the test cannot fail$/],
  ],
};

for (const [name, [item, mistakes]] of Object.entries(rows))
  test(name, async (t) => {
    const folder = await createFolder(t, { 'flow.json5': { connections, tests: [item] } });
    const lines = (await t.throwsAsync(loadFlows([folder])))!.message.split('\n');
    for (const mistake of mistakes)
      t.true(
        lines.some((line) => mistake.test(line)),
        `${mistake} in\n${lines.join('\n')}`,
      );
    t.is(lines.length, mistakes.length, lines.join('\n'));
    for (const line of lines) t.regex(line, /flow\.json5:\d+:\d+: tests/);
  });

test('a connection with errors causes no errors in its tests', async (t) => {
  const folder = await createFolder(t, {
    'flow.json5': {
      connections: { desk: { type: 'timer', timers: 'x' } },
      tests: [{ name: 'a', steps: [{ expect: { 'desk/timer/1/trigger': true } }] }],
    },
  });
  const { message } = (await t.throwsAsync(loadFlows([folder])))!;
  t.is(message.split('\n').length, 1, message);
});
