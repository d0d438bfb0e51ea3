// Flow files made of templates: their results, the places of their errors, and what a reload swaps.

import { join } from 'node:path';
import test from 'ava';
import { loadFlows } from '../../../lib/hub/index.ts';
import { runFlowTests } from '../../../lib/testing/run-tests.ts';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { readMark } from '../../support/mistakes/mistake.ts';
import { startReloading } from '../../support/reload.ts';

const studio = `{
  variables: { label: 'Studio \${instance}', mics: [1, 2] },
  connections: {
    '\${instance}': { type: 'dummy', parameters: ['mic1,B', 'mic2,B', 'red,B', 'title,S,\${label}', 'price,S,$\${5}', 'level,F'] },
    '\${instance}-clock': { type: 'timer', timers: ['\${overrun}'] },
  },
  rules: [
    { name: 'red light', from: { a: '\${instance}/mic1', b: '\${instance}/mic2' }, map: 'a || b', to: '\${instance}/red' },
    { each: { n: '\${mics}' }, name: '\${instance} mic \${n}', from: '\${instance}/mic\${n}', map: 'value ? \${n} : 0', to: '\${instance}/level' },
  ],
  tests: [
    { name: 'red', given: { '\${instance}/mic2': false }, steps: [{ set: { '\${instance}/mic1': true }, expect: { '\${instance}/red': true } }] },
  ],
}`;
const studios = (each: object, more: object = {}) => ({ ...more, instances: { template: './_studio.json5', each } });
const both = { s1: { overrun: 3000 }, s2: { overrun: 5000, mics: [2] } };

test('an instance has its own connections, rules and tests; numbers stay numbers', async (t) => {
  const folder = await createFolder(t, { '_studio.json5': studio, 'studios.json5': studios(both) });
  const plan = await loadFlows([folder]);
  const file = join(folder, 'studios.json5');
  t.deepEqual(plan.files, [{ path: file, connections: 4, rules: 5 }]);
  t.deepEqual(plan.templates, [join(folder, '_studio.json5')]);
  t.deepEqual(
    plan.rules.map(({ name, file, folder }) => ({ name, file, folder })),
    [
      { name: 's1: red light', file, folder: ['s1'] },
      { name: 's1 mic 1', file, folder: ['s1'] },
      { name: 's1 mic 2', file, folder: ['s1'] },
      { name: 's2: red light', file, folder: ['s2'] },
      { name: 's2 mic 2', file, folder: ['s2'] },
    ],
  );
  const [desk, clock] = plan.connections;
  const defaults = Object.fromEntries(desk!.parameters.map(({ id, defaultValue }) => [id, defaultValue]));
  t.like(defaults, { title: 'Studio s1', price: '${5}' });
  t.like(clock, { id: 's1-clock', settings: { timers: [3000] } });
  for await (const { isPassed, name, place } of runFlowTests([folder])) {
    t.true(isPassed);
    t.regex(name, /^s\d: red$/);
    t.is(place, `${join(folder, '_studio.json5')}:12:5`);
  }
});

/** An error marked in the template or in the file of its instances, and its message. */
const mistakes: readonly (readonly [title: string, file: string, template: string, reported: string])[] = [
  [
    'an unknown variable',
    '{ s1: {}, s2: {} }',
    "{ rules: [{ from: 'desk/¦${hots}', to: 'desk/b' }] }",
    'unknown variable "hots", the variables are instance (instance s1 of FOLDER/studios.json5, and 1 more)',
  ],
  [
    'a misspelt variable in the template',
    "{ s1: { host: 'a' } }",
    "{ rules: [{ from: 'desk/${host}', map: '\"¦${hots}\"', to: 'desk/b' }] }",
    'unknown variable "hots", did you mean "host"? (instance s1',
  ],
  [
    'a misspelt variable of an instance',
    "{ s1: { ¦hots: 'a' } }",
    "{ rules: [{ from: 'desk/${host}', to: 'desk/b' }] }",
    'instances.each.s1.hots: unknown variable "hots", did you mean "host"?',
  ],
  [
    'a variable that one instance lacks',
    "{ s1: { host: 'a' }, ¦s2: {} }",
    "{ rules: [{ from: 'desk/${host}', to: 'desk/b' }] }",
    'expected the variable "host" as in other instances, got none',
  ],
  ['an unused variable', '{ s1: { ¦port: 1 } }', '{ rules: [] }', 'unused variable "port"'],
  ['an unused default', '{ s1: {} }', '{ variables: { ¦port: 1 }, rules: [] }', 'unused variable "port"'],
  [
    'an error within an expression',
    '{ s1: { gain: 10 } }',
    "{ rules: [{ from: 'desk/a', map: 'value == \"x\" && ${gain} > ¦gian', to: 'desk/b' }] }",
    'unknown name "gian"',
  ],
  [
    'a setting of the wrong kind',
    "{ s1: { ms: 'soon' } }",
    "{ connections: { '${instance}': { type: 'timer', timers: [¦'${ms}'] } } }",
    'got "soon" (string) (instance s1 of',
  ],
  ['a template whose name has no underscore', '{}', '¦{}', 'expected a file whose name begins with _'],
  ['instances in a template', '{ s1: {} }', '{ ¦instances: {} }', 'expected no instances in a template'],
  ['a misspelt section', '{ s1: {} }', '{ ¦rule: [] }', 'unknown setting "rule", did you mean "rules"?'],
  ['a comma that is missing in a template', '{ s1: {} }', '{ rules: [] ¦tests: [] }', 'expected a comma before tests'],
  ['an empty template', '{ s1: {} }', '¦[]', 'expected an object such as'],
];
const desk = { connections: { desk: { type: 'dummy', parameters: ['a', 'b'] } } };

for (const [title, each, template, reported] of mistakes)
  test(`error: ${title}`, async (t) => {
    const isInTemplate = template.includes('¦') && title !== 'a template whose name has no underscore';
    const name = title === 'a template whose name has no underscore' ? 'studio.txt' : '_studio.json5';
    const main = `{ instances: { ${isInTemplate || each.includes('¦') ? '' : '¦'}template: './${name}', each: ${each} } }`;
    const marked = readMark(isInTemplate ? template : main);
    const folder = await createFolder(t, {
      'desk.json5': desk,
      'studios.json5': main.replace('¦', ''),
      [name]: template.replace('¦', ''),
    });
    const { message } = (await t.throwsAsync(loadFlows([folder])))!;
    const place = `${join(folder, isInTemplate ? name : 'studios.json5')}:${marked.line}:${marked.column}: `;
    t.is(message.split('\n').length, 1, message);
    t.true(message.startsWith(place), `${place} in ${message}`);
    t.true(message.includes(reported.replace('FOLDER', folder)), message);
  });

test('a missing template is reported where it is named, and causes no unknown addresses in its file', async (t) => {
  const folder = await createFolder(t, { 'studios.json5': studios(both) });
  const { message } = (await t.throwsAsync(loadFlows([folder])))!;
  t.regex(
    message,
    /^\S+studios\.json5:3:5: instances\.template: \S+_studio\.json5: expected a file or folder, but nothing with this name exists$/,
  );
});

test('a template that is named as a flow file is reported once', async (t) => {
  const folder = await createFolder(t, { '_studio.json5': studio });
  const { message } = (await t.throwsAsync(loadFlows([join(folder, '_studio.json5')])))!;
  t.regex(
    message,
    /^\S+_studio\.json5:1:1: expected a flow file, got a template: load a file that creates instances of it$/,
  );
});

test('a reload restarts only the instances that have changed', async (t) => {
  const hub = await startReloading(t, { '_studio.json5': studio, 'studios.json5': studios(both) });
  hub.write('s1/mic1', true);
  hub.write('s1/mic2', false);
  t.is(hub.value('s1/red'), true);
  const swapped = await hub.reload('studios.json5', studios({ ...both, s2: { overrun: 5000, mics: [1, 2] } }));
  t.deepEqual(swapped, {
    connections: { added: [], removed: [], changed: [] },
    rules: { added: ['s2 mic 1'], removed: [], changed: [] },
  });
  const { connections } = await hub.reload('studios.json5', studios({ s1: { overrun: 3000 }, s2: { overrun: 6000 } }));
  t.deepEqual(connections.changed, ['s2-clock']);
  t.is(hub.value('s1/red'), true);
});

test('saving the template reloads it, even if it had an error from the beginning', async (t) => {
  const hub = await startReloading(t, { 'studios.json5': {} }, { watch: true });
  await hub.save('_studio.json5', '{ rules: [');
  await hub.save('studios.json5', studios(both));
  await eventually(() => hub.lines.some(({ message }) => message.includes('_studio.json5:1:')));
  await hub.save('_studio.json5', studio);
  await eventually(() => hub.hub.rules().length === 5);
  await hub.saveByRename('_studio.json5', studio.replace('a || b', 'a && b'));
  await eventually(() => hub.lines.some(({ message }) => message === 'reloaded: rules: 2 changed'));
  t.pass();
});

const lamp = `{
  variables: { switch: '\${instance}-desk/switch', lamp: 'desk/lamp', hold: '2s', steps: [1, 2] },
  connections: { '\${instance}-desk': { type: 'dummy', parameters: ['switch,B,false'] } },
  rules: [{ each: { n: '\${steps}' }, name: 'hold \${n}', from: '\${switch}', pipe: [{ debounceTime: '\${hold}' }], to: '\${lamp}' }],
  tests: [
    { name: 'it is late', steps: [{ at: 0, set: { '\${switch}': true } }, { at: '1999ms', expect: { '\${lamp}': false } }, { at: '2s', expect: { '\${lamp}': true } }] },
  ],
}`;
const lamps = { connections: { desk: { type: 'dummy', parameters: ['lamp,B,false', 'other,B,false'] } } };

test('a file with variables runs with them, also as a copy under another name', async (t) => {
  const folder = await createFolder(t, {
    'hall.json5': lamp,
    'cellar.json5': lamp.replace('desk/lamp', 'desk/other').replace('[1, 2]', '[7]'),
    'desk.json5': lamps,
  });
  const { connections, rules } = await loadFlows([folder]);
  t.deepEqual(
    connections.map(({ id }) => id),
    ['cellar-desk', 'desk', 'hall-desk'],
  );
  t.deepEqual(
    rules.map(({ name, folder, to }) => [name, folder, to[0]]),
    [
      ['hold 7', [], 'desk/other'],
      ['hold 1', [], 'desk/lamp'],
      ['hold 2', [], 'desk/lamp'],
    ],
  );
  for await (const { isPassed, name, timeline } of runFlowTests([folder], { isTogether: true }))
    t.true(isPassed, `${name}\n${timeline}`);
});

for (const [title, text, reported] of [
  [
    'an unused variable',
    "{ variables: { a: 'desk/a', ¦b: 1 }, rules: [{ from: '${a}', to: 'desk/b' }] }",
    'variables.b: unused variable "b": nothing uses ${b}',
  ],
  [
    'an unused variable in a file without any use',
    '{ variables: { ¦b: 1 } }',
    'variables.b: unused variable "b": nothing uses ${b}',
  ],
  [
    'a misspelt variable',
    "{ variables: { lamp: 'desk/a' }, rules: [{ from: '${lamp}', map: '1', to: '¦${lmap}' }] }",
    'rules[0].to: unknown variable "lmap", did you mean "lamp"?',
  ],
  [
    'an unknown variable in a secret',
    "{ variables: { a: 1 }, connections: { 'b-${a}': { type: 'rest-api', password: 'se¦${b}ret' } } }",
    'expected a known variable',
  ],
  [
    'a variable with a wrong value',
    "{ variables: { ¦a: 'desk/nowhere' }, rules: [{ from: 'desk/a', to: '${a}' }] }",
    'unknown parameter "desk/nowhere"',
  ],
  [
    'a variable that refers to itself',
    "{ variables: { a: 'desk/b', b: '¦${a}' }, rules: [{ from: '${a}', to: '${b}' }] }",
    'unknown variable "a"',
  ],
  [
    'a variable with the reserved name',
    "{ variables: { ¦instance: 'x' }, rules: [{ from: 'desk/a', to: 'desk/${instance}' }] }",
    'expected a different name',
  ],
  [
    'variables that are not an object',
    '{ ¦variables: [] }',
    'variables: expected an object of variables, such as { port: 80 }, got ',
  ],
] as const)
  test(`error in the variables of a file: ${title}`, async (t) => {
    const marked = readMark(text);
    const folder = await createFolder(t, { 'desk.json5': desk, 'b.json5': text.replace('¦', '') });
    const { message } = (await t.throwsAsync(loadFlows([folder])))!;
    t.true(message.includes(reported), message);
    const place = title === 'a variable with a wrong value' ? '' : `b.json5:${marked.line}:${marked.column}: `;
    t.true(message.startsWith(`${join(folder, place)}`), message);
  });

test('saving a variable restarts only what uses it', async (t) => {
  const hub = await startReloading(t, { 'hall.json5': lamp, 'desk.json5': lamps });
  const swapped = await hub.reload('hall.json5', lamp.replace('[1, 2]', '[2, 3]'));
  t.deepEqual(swapped.rules, { added: ['hold 3'], removed: ['hold 1'], changed: [] });
  t.deepEqual((await hub.reload('hall.json5', lamp.replace("'2s'", "'3s'"))).connections.changed, []);
});
