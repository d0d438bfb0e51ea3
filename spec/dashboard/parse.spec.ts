// Dashboards as they are read: every mistake at once, with line, column and the nearest name; places; defaults.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import test from 'ava';
import JSON5 from 'json5';
import { type Group, widgetSchemas } from '../../lib/dashboard/format.ts';
import { evaluate } from '../../lib/dashboard/formula.ts';
import { dashboardJsonSchema, parseDashboard } from '../../lib/dashboard/parse-dashboard.ts';
import { readFormula } from '../../lib/dashboard/read-formula.ts';
import { unknownName } from '../../lib/json5/nearest-name.ts';
import { HubError } from '../../lib/model/error.ts';

const folder = 'flows/dashboards';

function mistakesOf(content: unknown): string[] {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  try {
    parseDashboard('desk.json5', text);
    return [];
  } catch (error) {
    if (!(error instanceof HubError) || error.code !== 'bad-dashboard') throw error;
    return error.message.split('\n').map((line) => line.replace(/^desk\.json5:\d+:\d+: /, ''));
  }
}

const mistakes = test.macro((t, content: unknown, ...expected: string[]) => {
  t.deepEqual(mistakesOf(content), expected);
});
const isSingle = (type: string) => type !== 'group' && type !== 'tabs';
const widget = (change: object) => ({ widgets: [{ type: 'lamp', address: 'desk/lamp', ...change }] });

test('text that is not JSON5', mistakes, '{ widgets: ', 'expected a value after widgets:, got the end of the file');
test('a list as the file', mistakes, [], 'expected object { … }, got [] (array)');
test(
  'a misspelt key of the file',
  mistakes,
  { widgets: [], colums: 3 },
  'colums: unknown setting "colums", did you mean "columns"?',
);
test(
  'a misspelt key of a widget',
  mistakes,
  widget({ adress: 'desk/lamp' }),
  'widgets[0].adress: unknown setting "adress", did you mean "address"?',
);
test(
  'a misspelt type',
  mistakes,
  widget({ type: 'lmap' }),
  'widgets[0].type: unknown type of widget "lmap", did you mean "lamp"?',
);
test(
  'no type',
  mistakes,
  { widgets: [{}] },
  `widgets[0].type: expected one of ${Object.keys(widgetSchemas).join(', ')}, got nothing`,
);
test(
  'an invalid widget',
  mistakes,
  { widgets: ['lamp'] },
  'widgets[0]: expected a widget { type, … }, got "lamp" (string)',
);
test(
  'a tone that does not exist',
  mistakes,
  widget({ tone: 'red' }),
  'widgets[0].tone: expected neutral, info, ok, warning, danger, got "red" (string)',
);
test(
  'an address without a slash',
  mistakes,
  widget({ address: 'desk' }),
  'widgets[0].address: expected <Connection ID>/<Parameter ID>, got "desk" (string)',
);
test(
  'no address at all',
  mistakes,
  { widgets: [{ type: 'lamp' }] },
  'widgets[0].address: expected an address <Connection ID>/<Parameter ID>, got nothing',
);
test(
  'a misspelt key deep within a group',
  mistakes,
  {
    widgets: [
      {
        type: 'group',
        widgets: [{ type: 'meter', address: 'desk/level', zones: [{ from: 1, tone: 'ok', form: 2 }] }],
      },
    ],
  },
  'widgets[0].widgets[0].zones[0].form: unknown setting "form", did you mean "from"?',
);
test(
  'a group in a group',
  mistakes,
  { widgets: [{ type: 'group', widgets: [{ type: 'group', widgets: [] }] }] },
  `widgets[0].widgets[0].type: ${unknownName('type of widget', 'group', Object.keys(widgetSchemas).filter(isSingle))}`,
);
test(
  'an empty size',
  mistakes,
  widget({ size: [0, 1] }),
  'widgets[0].size[0]: expected an integer 1..48, got 0 (number)',
);
test(
  'a place outside',
  mistakes,
  { columns: 2, rows: 2, ...widget({ at: [2, 1], size: [2, 1] }) },
  'widgets[0].at: expected a place within the grid of 2 columns and 2 rows, got a size of 2×1 at [2, 1]',
);
test(
  'two widgets in one place',
  mistakes,
  { widgets: [1, 2].map((column) => ({ type: 'lamp', address: 'desk/lamp', at: [column, 1], size: [2, 1] })) },
  'widgets[1].at: expected a free place, got [2, 1], which widgets[0] occupies',
);
test(
  'more widgets than fit',
  mistakes,
  { columns: 1, rows: 1, widgets: [1, 2].map(() => ({ type: 'lamp', address: 'desk/lamp' })) },
  'widgets[1].size: expected a size that fits on the grid of 1 column and 1 row, got [1, 1]',
);
test(
  'a reversed range',
  mistakes,
  widget({ type: 'fader', min: 5, max: 5 }),
  'widgets[0].max: expected a number above min (5), got 5 (number)',
);
test(
  'a button that sets nothing',
  mistakes,
  widget({ type: 'button', mode: 'set' }),
  'widgets[0].mode: expected a setting value for mode "set", got none',
);
test(
  'a value that is never set',
  mistakes,
  widget({ type: 'button', value: 3 }),
  'widgets[0].value: expected mode "set" for this setting, got "toggle" (string)',
);
test(
  'more widgets than a dashboard may have',
  mistakes,
  { columns: 48, widgets: Array.from({ length: 502 }, () => ({ type: 'lamp', address: 'desk/lamp' })) },
  'widgets[500]: expected at most 500 widgets, got more',
);

test(
  'an expression that does not end',
  mistakes,
  widget({ visible: "param('desk/lamp') &&" }),
  'widgets[0].visible: expected a value after &&, got the end',
);
test(
  'a function that widgets cannot use',
  mistakes,
  widget({ visible: "round(param('desk/level')) > 1" }),
  'widgets[0].visible: expected param, known, fresh, wanted or an operator, got the function round(…), which widgets cannot use; compute it with a rule',
);
test(
  'an expression with a tone that does not exist',
  mistakes,
  widget({ toneBy: "param('desk/lamp') ? 'red' : 'ok'" }),
  'widgets[0].toneBy: unknown tone "red", expected one of neutral, info, ok, warning, danger',
);
for (const [src, why] of [
  ['https://example.org/logo.svg', 'without host, spaces, "?" and "#"'],
  ['//example.org/logo.svg', 'without host, spaces, "?" and "#"'],
  ['/\\\\example.org/logo.svg', 'without host, spaces, "?" and "#"'],
  ['/update?parameter=desk/lamp&value=1', 'without host, spaces, "?" and "#"'],
  ['/%75pdate', 'got an endpoint, /update'],
  ['/a/%2e%2e/update', 'without ".."'],
  ['/hub/me', 'got an endpoint, /hub'],
] as const)
  test(
    `a picture from ${src}`,
    mistakes,
    { widgets: [{ type: 'image', src }] },
    `widgets[0].src: expected a path such as "/pictures/logo.svg" on this hub, ${why}`,
  );
test(
  'a question for a button that is held',
  mistakes,
  widget({ type: 'button', mode: 'momentary', confirm: 'Sure?' }),
  'widgets[0].confirm: expected a different mode for this setting, got "momentary", which writes while the button is held',
);
test(
  'a link that leads nowhere',
  mistakes,
  { widgets: [{ type: 'link' }] },
  'widgets[0].to: expected either `to` or `back: true`',
);
test(
  'a countdown to nothing',
  mistakes,
  { widgets: [{ type: 'countdown' }] },
  'widgets[0].to: expected either `to` or `address`',
);
test(
  'an icon that does not exist',
  mistakes,
  { widgets: [{ type: 'matrix', lamps: [{ address: 'desk/lamp', tone: 'red' }] }] },
  'widgets[0].lamps[0].tone: expected neutral, info, ok, warning, danger, got "red" (string)',
);
test(
  'tabs within tabs',
  mistakes,
  { widgets: [{ type: 'tabs', tabs: [{ label: 'One', widgets: [{ type: 'tabs', tabs: [] }] }] }] },
  'widgets[0].tabs[0].widgets[0].type: unknown type of widget "tabs"',
);
test(
  'two widgets of one name, and a layout that names another',
  mistakes,
  {
    layouts: { phone: { columns: 2, order: ['micc'] } },
    widgets: ['mic', 'mic'].map((id) => ({ type: 'label', label: 'Mic', id })),
  },
  'widgets[1].id: expected a unique name, got "mic" (string) twice',
  'layouts.phone.order[0]: unknown id of a widget "micc", did you mean "mic"?',
);

test('expressions of widgets have the results of expressions in rules', (t) => {
  const values: Record<string, string | number | boolean> = { 'a/b': true, 'a/n': 3, 'a/s': 'x' };
  const run = (text: string, expects: 'condition' | 'tone' = 'condition') =>
    evaluate(readFormula(text, expects), (ask, address) => (ask === 'known' ? address in values : values[address]));
  for (const text of [
    "param('a/b') && param('a/n') > 2.5",
    "param('a/s') in ['x', 'y'] && !(param('a/n') == 4)",
    "known('a/c') || -param('a/n') * 2 + 1 < -4.5",
    "param('a/n') % 2 == 1 && 'a' + 'b' == 'ab'",
    "param('a/c') || param('a/b')",
  ])
    t.true(run(text), text);
  t.is(run("param('a/n') >= 3 ? 'danger' : 'ok'", 'tone'), 'danger');
  t.throws(() => run("param('a/c') && param('a/b')"), { message: 'a/c is unknown' });
  t.throws(() => run("param('a/s') > 1"), { message: 'expected values that > accepts, got x > 1' });
});

test('a layout for phones has its own order and places', (t) => {
  const label = { type: 'label', label: 'x' };
  const widgets = [{ ...label, size: [3, 1] }, { ...label, id: 'b' }, label, { ...label, id: 'd' }];
  const { layouts } = parseDashboard(
    'desk.json5',
    JSON.stringify({ layouts: { phone: { columns: 2, order: ['d'], hide: ['b'] } }, widgets }),
  );
  t.deepEqual(layouts.phone, {
    columns: 2,
    rows: 3,
    places: [{ at: [1, 2], size: [2, 1] }, null, { at: [1, 3], size: [1, 1] }, { at: [1, 1], size: [1, 1] }],
  });
});

test('addresses in expressions and links to dashboards are checked, with their places', (t) => {
  const text = `{ widgets: [
  { type: 'link', to: 'studoi', visible: "param('desk/x')" },
  { type: 'tabs', tabs: [{ label: 'a', widgets: [{ type: 'select', address: 'desk/y' }] }] } ] }`;
  const names = {
    whyUnknown: (address: string) => `unknown parameter "${address}"`,
    whyNoDashboard: (name: string) => `unknown dashboard "${name}"`,
  };
  const { message } = t.throws(() => parseDashboard('desk.json5', text, names), { instanceOf: HubError });
  t.deepEqual(message.split('\n'), [
    'desk.json5:2:19: widgets[0].to: unknown dashboard "studoi"',
    'desk.json5:2:33: widgets[0].visible: unknown parameter "desk/x"',
    'desk.json5:3:68: widgets[1].tabs[0].widgets[0].address: unknown parameter "desk/y"',
  ]);
});

test('mistakes are reported with line and column, all at once, also duplicate keys', (t) => {
  const text = `{
  title: 'Desk', title: 'Again',
  widgets: [
    { type: 'lamp', address: 'desk/lamp' },
    { type: 'fader', address: 'desk/level',
      mni: 3 },
  ],
}`;
  const error = t.throws(() => parseDashboard('desk.json5', text), { instanceOf: HubError });
  t.deepEqual(error.message.split('\n'), [
    'desk.json5:2:18: title: expected "title" once, got several',
    'desk.json5:6:7: widgets[1].mni: unknown setting "mni", did you mean "min"?',
  ]);
});

test('widgets without a place take the first free one, those with a place keep theirs', (t) => {
  const lamp = { type: 'lamp', address: 'desk/lamp' };
  const widgets = [{ ...lamp, size: [2, 1] }, lamp, { ...lamp, at: [2, 1] }, { ...lamp, size: [3, 2] }, lamp];
  const dashboard = parseDashboard('desk.json5', JSON.stringify({ columns: 3, widgets }));
  t.deepEqual(
    dashboard.widgets.map(({ at }) => at),
    [
      [1, 2],
      [1, 1],
      [2, 1],
      [1, 3],
      [3, 1],
    ],
  );
  t.is(dashboard.rows, 4);
});

test('omitted settings have defaults; the grid of a group has the size of the group', (t) => {
  const group = { type: 'group', size: [3, 2], widgets: [{ type: 'button', address: 'desk/lamp' }] };
  const dashboard = parseDashboard('desk.json5', JSON.stringify({ widgets: [group] }));
  const [{ columns, rows, widgets }] = dashboard.widgets as [Group];
  t.deepEqual([dashboard.columns, dashboard.rows, columns, rows], [6, 2, 3, 2]);
  t.deepEqual(widgets, [
    { type: 'button', address: 'desk/lamp', at: [1, 1], size: [1, 1], mode: 'toggle', tone: 'info' },
  ]);
});

test('the examples are valid, also by the JSON Schema for editors, which refuses mistakes', async (t) => {
  const isValid = new Ajv2020({ strict: false }).compile(dashboardJsonSchema());
  for (const name of await readdir(folder)) {
    const text = await readFile(join(folder, name), 'utf8');
    t.notThrows(() => parseDashboard(name, text));
    t.true(isValid(JSON5.parse(text)), JSON.stringify(isValid.errors));
  }
  t.false(isValid(widget({ adress: 'desk/lamp' })));
  t.false(isValid(widget({ type: 'lmap' })));
});

test('each repeats widgets, also those of a group', (t) => {
  const lamp = { type: 'lamp', address: 's${n}/red', label: 'Studio ${n}' };
  const one = { type: 'group', size: [2, 1], widgets: [{ each: { n: [4, 5] }, ...lamp }] };
  const text = JSON.stringify({ columns: 3, widgets: [{ each: { n: [1, 2, 3] }, widgets: [lamp] }, one] });
  const [first, , third, group] = parseDashboard('desk.json5', text).widgets;
  t.like(first, { address: 's1/red', label: 'Studio 1', at: [1, 1] });
  t.like(third, { address: 's3/red', at: [3, 1] });
  t.like(group, { type: 'group', widgets: [{ address: 's4/red' }, { address: 's5/red' }] });
  t.true(new Ajv2020({ strict: false }).validate(dashboardJsonSchema(), JSON.parse(text)));
  const mistake = t.throws(() => parseDashboard('desk.json5', text.replace('"s${n}/red"', '"s${m}/red"')));
  t.regex(mistake.message, /^desk\.json5:1:\d+: .*unknown variable "m", the variables are n \(n = 1, and 2 more\)$/);
});
