// Settings that work but are probably a slip are reported with their place, and stop nothing from running.

import { join } from 'node:path';
import test from 'ava';
import { loadFlows } from '../../../lib/hub/index.ts';
import { createFolder } from '../../support/folder.ts';
import { startTestHub, writer } from '../../support/hub.ts';
import { readMark } from '../../support/mistakes/mistake.ts';

const file = ({ rules = '', connections = '' }) => `{
  connections: {
    desk: { type: 'dummy', parameters: ['a,B', 'b,B', 'c,B', 'lamp,B', 'x,F', 'y,F', 'out,F', 'text,S', 'note,S', 'go,T', 'bell,T'] },
    core: { type: 'virtual-core', inputs: { a: 'desk/a', x: 'desk/x' }, outputs: { on: { type: 'B', expression: 'a' }, twice: { type: 'F', expression: 'x * 2.0' } } },
    ${connections}
  },
  rules: [
    ${rules}
  ],
}
`;
const rules = (...lines: string[]) => file({ rules: lines.join('\n') });
const connection = (settings: string) => file({ connections: `more: ${settings},` });
const copy = (from: string, to = 'desk/lamp') => `{ from: '${from}', to: '${to}' },`;
const behind = (shown: string) => `expected both in from, such as from: ${shown}`;

const reported: [title: string, text: string, ...parts: string[]][] = [
  [
    'two rules that copy two parameters to one',
    rules(copy('desk/a'), `¦${copy('desk/b')}`),
    'rule "desk/b → desk/lamp": it copies desk/b to desk/lamp, and rule "desk/a → desk/lamp" (',
    "the last change wins: expected one rule, such as from: { a: 'desk/a', b: 'desk/b' }, map: 'a || b'",
  ],
  [
    'two rules that copy numbers',
    rules(copy('desk/x', 'desk/out'), `¦${copy('desk/y', 'desk/out')}`),
    "from: { a: 'desk/x', b: 'desk/y' }, map: 'max(a, b)'",
  ],
  [
    'two rules that copy texts',
    rules(copy('desk/text', 'desk/note'), "¦{ from: 'desk/x', to: 'desk/note' },"),
    "from: ['desk/text', 'desk/x'] if the last change is meant to win",
  ],
  [
    'two rules in different folders, one of them with more destinations',
    rules(
      `{ folder: 'one', rules: [${copy('desk/a')}] },`,
      "{ folder: 'two', rules: [¦{ from: 'desk/b', to: ['desk/c', 'desk/lamp'] }] },",
    ),
    'it copies desk/b to desk/lamp, and rule "desk/a → desk/lamp" (',
  ],
  [
    'two rules with an explicit map: value',
    rules(
      "{ from: 'desk/a', map: 'value', to: 'desk/lamp' },",
      "¦{ from: { mic: 'desk/b' }, map: 'mic', to: 'desk/lamp' }",
    ),
    'it copies desk/b to desk/lamp',
  ],
  [
    'two rules that copy to one of their destinations',
    rules(copy('desk/a'), "¦{ from: 'desk/b', to: { 'desk/c': '!value', 'desk/lamp': ' value ' } }"),
    'it copies desk/b to desk/lamp',
  ],
  [
    'a step without delay reads a value computed from the source',
    rules(
      "¦{ from: 'desk/a', pipe: [{ distinctUntilChanged: true }, { filter: \"param('core/on')\" }], to: 'desk/lamp' }",
    ),
    'core/on is computed from desk/a in the same turn',
  ],
  [
    'a destination after such a step reads it',
    rules("¦{ from: 'desk/a', pipe: [{ skip: 1 }], to: { 'desk/lamp': \"param('core/on')\" } }"),
    'core/on is computed from desk/a in the same turn',
  ],
  [
    'a rule reads a value computed from its source',
    rules("¦{ from: 'desk/a', map: \"value && param('core/on')\", to: 'desk/lamp' }"),
    "core/on is computed from desk/a in the same turn, after this rule has run, so param('core/on') still has the value of the previous turn",
    behind("{ a: 'desk/a', b: 'core/on' }"),
  ],
  [
    'a condition reads it',
    rules("¦{ from: 'desk/a', when: \"param('core/on')\", to: 'desk/lamp' }"),
    'core/on is computed from desk/a',
  ],
  [
    'an expression of a destination reads it',
    rules("¦{ from: 'desk/x', to: { 'desk/out': \"value + param('core/twice')\" } }"),
    'core/twice is computed from desk/x',
  ],
  [
    'a rule reads what a rule with named sources computes from its source',
    rules(
      "{ from: { a: 'desk/a', b: 'desk/b' }, map: 'a && b', to: 'desk/c' },",
      "¦{ from: 'desk/b', when: \"param('desk/c')\", to: 'desk/lamp' }",
    ),
    'desk/c is computed from desk/b',
  ],
  ...[
    "{ type: 'alarms', alarms: { silence: { when: 'core/on', ¦delay: 10 } } }",
    "{ type: 'timer', timers: [2000, ¦10] }",
    "{ type: 'timer', pulses: [{ ¦interval: 10 }] }",
    "{ type: 'virtual-core', inputs: { a: 'desk/a' }, outputs: { late: { block: 'TON', in: 'a', ¦pt: 10 } } }",
  ].map((settings): [string, string, string] => [
    `a small duration: ${settings}`,
    connection(settings),
    "expected a duration with its unit, '10s' or '10ms': 10 alone is 10 ms",
  ]),
  [
    'a step with a small duration',
    rules("{ from: 'desk/a', pipe: [{ ¦delay: 30 }], to: 'desk/lamp' }"),
    "'30s' or '30ms': 30 alone is 30 ms",
  ],
  [
    'a throttle with a small duration',
    rules("{ from: 'desk/a', pipe: [{ throttleTime: { ¦duration: 5 } }], to: 'desk/lamp' }"),
    "'5s' or '5ms'",
  ],
];

for (const [title, marked, ...parts] of reported)
  test(`warning: ${title}`, async (t) => {
    const { text, line, column } = readMark(marked);
    const folder = await createFolder(t, { 'flow.json5': text });
    const { warnings = [] } = await loadFlows([join(folder, 'flow.json5')]);
    t.is(warnings.length, 1, warnings.join('\n'));
    t.true(warnings[0]!.startsWith(`${join(folder, 'flow.json5')}:${line}:${column}: `), warnings[0]);
    for (const part of parts) t.true(warnings[0]!.includes(part), `${part} in ${warnings[0]}`);
  });

const silent: [title: string, text: string][] = [
  ['one rule with a list', rules("{ from: ['desk/a', 'desk/b'], to: 'desk/lamp' }")],
  ['a second rule with a condition', rules(copy('desk/a'), "{ from: 'desk/b', when: 'value', to: 'desk/lamp' }")],
  ['a second rule that computes', rules(copy('desk/a'), "{ from: 'desk/b', map: '!value', to: 'desk/lamp' }")],
  ['a second rule with steps', rules(copy('desk/a'), "{ from: 'desk/b', pipe: [{ delay: '1s' }], to: 'desk/lamp' }")],
  ['the same source twice', rules(copy('desk/a'), copy('desk/a'))],
  ['triggers', rules(copy('desk/go', 'desk/bell'), copy('desk/bell', 'desk/bell'))],
  ['triggers that switch', rules(copy('desk/go'), copy('desk/bell'))],
  ['a rule that is off', rules(copy('desk/a'), "{ from: 'desk/b', to: 'desk/lamp', enabled: false }")],
  ['a rule in shadow', rules(copy('desk/a'), "{ from: 'desk/b', to: 'desk/lamp', shadow: true }")],
  ['a look at what comes from elsewhere', rules("{ from: 'desk/b', when: \"param('core/on')\", to: 'desk/lamp' }")],
  [
    'a read after a step that takes time',
    rules("{ from: 'desk/a', pipe: [{ delay: '1s' }, { filter: \"param('core/on')\" }], to: 'desk/lamp' }"),
  ],
  [
    'a read of what a plain rule writes',
    rules(copy('desk/a', 'desk/b'), "{ from: 'desk/a', when: \"param('desk/b')\", to: 'desk/lamp' }"),
  ],
  ['both in from', rules("{ from: { a: 'desk/a', b: 'core/on' }, map: 'a && b', to: 'desk/lamp' }")],
  ['a small duration with its unit', connection("{ type: 'timer', timers: ['10ms', '10s', 0, 100] }")],
  ['a short debounce', rules("{ from: 'desk/a', pipe: [{ debounceTime: 20 }], to: 'desk/lamp' }")],
];

for (const [title, text] of silent)
  test(`no warning: ${title}`, async (t) => {
    const folder = await createFolder(t, { 'flow.json5': text });
    t.deepEqual((await loadFlows([join(folder, 'flow.json5')])).warnings, []);
  });

test('rules of data in TypeScript are checked too, and rules from one template get one warning', async (t) => {
  const template = {
    connections: { '${instance}': { type: 'dummy', parameters: ['a,B', 'lamp,B'] } },
    rules: [{ from: '${instance}/a', pipe: [{ delay: 10 }], to: '${instance}/lamp' }],
  };
  const folder = await createFolder(t, {
    '_studio.json5': template,
    'studios.json5': { instances: { template: './_studio.json5', each: { s1: {}, s2: {}, s3: {} } } },
    'desk.json5': file({}),
    'flow.ts': `export default {
      rules: () => [
        { from: 'desk/a', to: 'desk/lamp' },
        { from: 'desk/b', to: 'desk/lamp' },
      ],
    };`,
  });
  const { warnings = [] } = await loadFlows([folder]);
  t.is(warnings.length, 2, warnings.join('\n'));
  t.regex(warnings[0]!, /_studio\.json5:\d+:\d+: rules\[0\]\.pipe\[0\]\.delay: expected a duration with its unit/);
  t.regex(warnings[1]!, /flow\.ts:4:\d+: rule "desk\/b → desk\/lamp": it copies/);
});

test('of many warnings the first are listed and the others counted', async (t) => {
  const many = Array.from({ length: 300 }, () => "{ from: 'desk/a', pipe: [{ delay: 10 }], to: 'desk/lamp' },");
  const copies = Array.from({ length: 30 }, (_, index) =>
    copy(`desk/${'abc'[index % 3]}`, index % 3 ? 'desk/lamp' : 'desk/c'),
  );
  const folder = await createFolder(t, { 'flow.json5': rules(...many, ...copies) });
  const { warnings = [] } = await loadFlows([join(folder, 'flow.json5')]);
  t.true(warnings.includes('200 more warnings'), warnings.slice(100).join('\n'));
});

test('a hub that loads such files logs the warnings, and runs', async (t) => {
  const hub = await startTestHub(t, rules(copy('desk/a'), copy('desk/b')));
  t.is(hub.lines.filter(({ message }) => message.includes('it copies desk/b to desk/lamp')).length, 1);
  hub.write('desk/b', true, writer);
  t.is(hub.find('desk/lamp')?.value, true);
});
