// `patchbay check` finds every error, all at once, each with file, path, what was expected and what it got.

import { join } from 'node:path';
import test from 'ava';
import { loadFlows } from '../../../lib/hub/index.ts';
import { HubError } from '../../../lib/model/error.ts';
import { createFolder } from '../../support/folder.ts';

const desk = { type: 'dummy', parameters: ['mic,B', 'lamp,B', 'level,F', 'go,T', 'text'] };
const clock = { type: 'timer', timers: [1000], pulses: [{ interval: 500 }] };
const connections = { desk, clock };
const rule = (change: object) => ({ connections, rules: [{ from: 'desk/mic', to: 'desk/lamp', ...change }] });

const mistakes: [title: string, flow: unknown, ...expected: RegExp[]][] = [
  [
    'text that is not JSON5',
    '{ connections: ',
    /flow\.json5:1:15: expected a value after connections:, got the end of the file/,
  ],
  ['a list as the file', [], /flow\.json5:1:1: expected an object such as \{ connections: .*, got \[\] \(array\)/],
  [
    'an unknown key of the file',
    { rulez: [] },
    /flow\.json5:2:3: rulez: unknown setting "rulez", did you mean "rules"\?/,
  ],
  ['a Connection ID with capitals', { connections: { Desk: desk } }, /connections\.Desk: expected a Connection ID/],
  [
    'an unknown type',
    { connections: { x: { type: 'tmier' } } },
    /connections\.x\.type: unknown connection type "tmier", did you mean "timer"\?/,
  ],
  [
    'a type that is not text',
    { connections: { x: { type: 3 } } },
    /connections\.x\.type: expected one of .*, got 3 \(number\)/,
  ],
  [
    'a connection that is not an object',
    { connections: { x: 3 } },
    /connections\.x: expected the settings of a connection, got 3 \(number\)/,
  ],
  [
    'an unknown setting',
    { connections: { x: { type: 'timer', timer: [] } } },
    /connections\.x\.timer: unknown setting "timer", did you mean "timers"\?/,
  ],
  [
    'an unknown setting in a list',
    { connections: { x: { type: 'timer', pulses: [{ intervl: 1 }] } } },
    /connections\.x\.pulses\[0\]\.intervl: unknown setting "intervl", did you mean "interval"\?/,
  ],
  [
    '17 timers',
    { connections: { x: { type: 'timer', timers: Array(17).fill(1) } } },
    /connections\.x\.timers: expected at most 16 timers/,
  ],
  [
    '17 pulses',
    { connections: { x: { type: 'timer', pulses: Array(17).fill({}) } } },
    /connections\.x\.pulses: expected at most 16 pulses/,
  ],
  [
    'an invalid duration',
    { connections: { x: { type: 'timer', timers: ['1 s'] } } },
    /connections\.x\.timers\[0\]: expected an integer 0\.\.2147483647 \(ms\) or a duration such as "1m30s", got "1 s" \(string\)/,
  ],
  [
    'an interval of 0',
    { connections: { x: { type: 'timer', pulses: [{ interval: 0 }] } } },
    /connections\.x\.pulses\[0\]\.interval: expected an integer 1\.\.2147483647 \(ms\) or a duration such as "1m30s", got 0 \(number\)/,
  ],
  [
    'a port out of range',
    { connections: { x: { type: 'rest-api', port: 70000 } } },
    /connections\.x\.port: expected an integer 0\.\.65535, got 70000 \(number\)/,
  ],
  [
    'an invalid address',
    { connections: { x: { type: 'rest-api', bindIp: 'here' } } },
    /connections\.x\.bindIp: expected an IP address, got "here"/,
  ],
  [
    'a bad regular expression',
    { connections: { x: { type: 'rest-api', webSocketFilters: ['('] } } },
    /connections\.x\.webSocketFilters\[0\]: expected a regular expression, got "\("/,
  ],
  [
    'a secret of the wrong type',
    { connections: { x: { type: 'rest-api', password: 123456 } } },
    /connections\.x\.password: expected text, got \*\*\*/,
  ],
  [
    'two connections on one port',
    { connections: { a: { type: 'rest-api', port: 1 }, b: { type: 'rest-api', port: 1 } } },
    /connections\.b: expected exclusive use of port 1, but "a" also uses it/,
  ],
  [
    'all interfaces and one interface on one port',
    { connections: { a: { type: 'rest-api', port: 1, bindIp: '127.0.0.1' }, b: { type: 'rest-api', port: 1 } } },
    /connections\.b: expected exclusive use of port 1/,
  ],
  [
    'a connection that is twice in a file',
    '{ connections: { a: { type: "dummy" }, a: { type: "dummy" } } }',
    /flow\.json5:1:40: connections\.a: expected "a" once, got several/,
  ],
  [
    'D-11: an invalid Dummy type',
    { connections: { a: { type: 'dummy', parameters: ['x,Q'] } } },
    /connections\.a\.parameters\[0\]: expected a value type S, B, I, F or T, got "Q"/,
  ],
  [
    'D-11: a default that does not convert',
    { connections: { a: { type: 'dummy', parameters: ['x,I,abc'] } } },
    /connections\.a\.parameters\[0\]: expected a number, got "abc" \(string\)/,
  ],
  [
    'D-11: a trigger with a default',
    { connections: { a: { type: 'dummy', parameters: ['x,T,1'] } } },
    /parameters\[0\]: expected no default value for a trigger/,
  ],
  [
    'D-11: a duplicate Parameter ID',
    { connections: { a: { type: 'dummy', parameters: ['x', 'y', 'x'] } } },
    /parameters\[2\]: expected each Parameter ID once, got "x" twice/,
  ],
  [
    'D-11: a bad line in a single text',
    { connections: { a: { type: 'dummy', parameters: 'x\n\ny,Q' } } },
    /connections\.a\.parameters: line 3: expected a value type/,
  ],
  [
    'D-01: a bad Parameter ID',
    { connections: { a: { type: 'dummy', parameters: ['a//b'] } } },
    /parameters\[0\]: expected a Parameter ID without empty segments/,
  ],
  [
    'an unknown connection in a rule',
    rule({ from: 'dsk/mic' }),
    /rules\[0\]\.from: unknown connection "dsk", did you mean "desk"\?/,
  ],
  [
    'an unknown parameter in a rule',
    rule({ to: ['desk/lamp', 'desk/lmp'] }),
    /rules\[0\]\.to\[1\]: unknown parameter "desk\/lmp", did you mean "desk\/lamp"\?/,
  ],
  [
    'an invalid address in a rule',
    rule({ from: 'desk' }),
    /rules\[0\]\.from: expected <Connection ID>\/<Parameter ID>, got "desk"/,
  ],
  [
    'a read-only destination',
    rule({ to: 'clock/pulse/1' }),
    /rules\[0\]\.to: expected a writable parameter, but "clock\/pulse\/1" is read-only/,
  ],
  ['no destination', rule({ to: [] }), /rules\[0\]\.to: expected at least one address/],
  [
    'a rule without a source',
    { connections, rules: [{ to: 'desk/lamp' }] },
    /rules\[0\]\.from: expected an address, .*, got nothing/,
  ],
  ['an unknown key of a rule', rule({ wen: 'value' }), /rules\[0\]\.wen: unknown setting "wen", did you mean "when"\?/],
  ['bad syntax in map', rule({ map: 'value &&' }), /rules\[0\]\.map: expected a value after &&, got the end/],
  ['a wrong type in map', rule({ map: 'value * 2' }), /rules\[0\]\.map: true\/false \* number: use \(value \? 1 : 0\)/],
  [
    'a condition that is not a boolean',
    rule({ from: 'desk/level', when: 'value' }),
    /rules\[0\]\.when: expected true\/false as the result, got a number/,
  ],
  [
    'an error in a folder',
    {
      connections,
      rules: [{ folder: 'f', enabled: false, rules: [{ folder: 'g', rules: [{ from: 'desk/x', to: 'desk/lamp' }] }] }],
    },
    /rules\[0\]\.rules\[0\]\.rules\[0\]\.from: unknown parameter "desk\/x"/,
  ],
  [
    'an unknown key of a folder, and errors in it',
    { connections, rules: [{ folder: 'f', on: 1, rules: [{ from: 'desk/x', to: 'desk/lamp' }] }] },
    /rules\[0\]\.on: unknown setting "on"/,
    /rules\[0\]\.rules\[0\]\.from/,
  ],
  [
    'errors in settings and in rules at once',
    {
      rulez: 1,
      connections: { desk, x: { type: 'timer', timers: 3, pulses: [{ interval: 0 }] } },
      rules: [{ from: 'desk/y', to: 'desk/z', map: '(' }],
    },
    /rulez/,
    /timers: expected list, got 3/,
    /pulses\[0\]\.interval/,
    /rules\[0\]\.from/,
    /rules\[0\]\.to/,
    /rules\[0\]\.map/,
  ],
];

for (const [title, flow, ...expected] of mistakes)
  test(`names ${title}`, async (t) => {
    const folder = await createFolder(t, { 'flow.json5': flow });
    const error = await t.throwsAsync(loadFlows([join(folder, 'flow.json5')]), { instanceOf: HubError });
    const lines = error!.message.split('\n');
    t.is(lines.length, expected.length, error!.message);
    for (const pattern of expected)
      t.true(
        lines.some((line) => pattern.test(line)),
        `${pattern} in:\n${error!.message}`,
      );
    for (const line of lines) t.true(line.startsWith(join(folder, 'flow.json5:')), line);
  });

test('names a missing file, an empty folder and the errors in another file, at once', async (t) => {
  const folder = await createFolder(t, { 'a.json5': '[', 'empty/readme.txt': '' });
  const error = await t.throwsAsync(
    loadFlows([join(folder, 'none.json5'), join(folder, 'empty'), join(folder, 'a.json5')]),
  );
  t.regex(error!.message, /none\.json5: expected a file or folder, but nothing with this name exists/);
  t.regex(error!.message, /empty: expected a folder with flow files/);
  t.regex(error!.message, /a\.json5:1:1: expected \] to close \[, got the end of the file/);
});

test('names a connection that two files declare', async (t) => {
  const folder = await createFolder(t, { 'a.json5': { connections: { desk } }, 'b.json5': { connections: { desk } } });
  const error = await t.throwsAsync(loadFlows([folder]));
  t.regex(
    error!.message,
    /b\.json5:\d+:\d+: connections\.desk: expected a unique Connection ID, but "desk" is also in .*a\.json5/,
  );
});

test('addresses reach across files, and each file is read once', async (t) => {
  const folder = await createFolder(t, {
    'rules/b.json5': { rules: [{ from: 'desk/mic', to: 'desk/lamp' }] },
    'a.json5': { connections: { desk } },
    'node_modules/x.json5': '[',
    'dashboards/x.json5': '{ widgets: [] }',
    '.hidden.json5': '[',
  });
  const plan = await loadFlows([folder, join(folder, 'a.json5')]);
  t.is(plan.connections.length, 1);
  t.like(plan.rules, [{ name: 'desk/mic → desk/lamp', body: { from: { any: ['desk/mic'] } }, to: ['desk/lamp'] }]);
});

test('two ports, port 0 twice, and one port on two addresses are no errors', async (t) => {
  const api = (settings: object) => ({ type: 'rest-api', ...settings });
  const folder = await createFolder(t, {
    'a.json5': {
      connections: {
        a: api({ port: 1 }),
        b: api({ port: 2 }),
        c: api({ port: 0 }),
        d: api({ port: 0 }),
        e: api({ port: 3, bindIp: '127.0.0.1' }),
        f: api({ port: 3, bindIp: '127.0.0.2' }),
        g: api({ port: 1, enabled: false }),
      },
    },
  });
  t.is((await loadFlows([folder])).connections.length, 7);
});

test('rules are in order top to bottom, depth first; disabled ones are marked', async (t) => {
  const named = (name: string, more: object = {}) => ({ name, from: 'desk/mic', to: 'desk/lamp', ...more });
  const rules = [
    named('1'),
    {
      folder: 'f',
      rules: [named('2'), { folder: 'g', rules: [named('3'), named('off', { enabled: false })] }, named('4')],
    },
    { folder: 'off', enabled: false, rules: [named('off'), { folder: 'h', rules: [named('off')] }] },
    named('5'),
  ];
  const folder = await createFolder(t, { 'a.json5': { connections, rules } });
  t.deepEqual(
    (await loadFlows([folder])).rules.map(({ name, isEnabled, folder }) => [...folder, isEnabled ? name : `(${name})`]),
    [
      ['1'],
      ['f', '2'],
      ['f', 'g', '3'],
      ['f', 'g', '(off)'],
      ['f', '4'],
      ['off', '(off)'],
      ['off', 'h', '(off)'],
      ['5'],
    ],
  );
});
