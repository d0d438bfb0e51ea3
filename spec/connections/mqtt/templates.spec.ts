// Templates of discovery documents: what is compiled, with the results that Jinja has in Home Assistant, and what is refused. The rows marked
// with their software are those that Zigbee2MQTT 2.12 (`lib/extension/homeassistant.ts`) and others publish.

import test from 'ava';
import { compileTemplate, TemplateError } from '../../../lib/connections/mqtt/templates.ts';

/** Renders a payload; undefined: the message lacks what the template needs. */
function render(template: string, payload: unknown): unknown {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {}
  return compileTemplate(template).evaluate({ text, json });
}

const rows: readonly (readonly [template: string, payload: unknown, result: unknown])[] = [
  ['{{ value }}', '007', '007'],
  ["{{ 'ON' if value == '1' else 'OFF' }}", '1', 'ON'],
  ['{{ value | float / 10 }}', '215', 21.5],
  ['{{ value | int(0) }}', 'nonsense', 0],
  ['{{ value_json.x | float(0) }}', { x: 'nan?' }, 0],
  ['{{ value_json.x }}', { x: null }, 'None'],
  ['{{ value_json.x }}', {}, undefined],
  ['{{ value_json.x | default(7) }}', {}, 7],
  ['{{ value_json.x | default(7) }}', { x: null }, 'None'],
  ["{{ value_json.x | default('', true) }}", { x: null }, ''],
  ["{{ value_json['PM2.5'] }}", { 'PM2.5': 3 }, 3],
  ['{{ value_json.list[1].level }}', { list: [0, { level: 4 }] }, 4],
  ['{% if value_json.x is defined %}{{ value_json.x }}{% endif %}', {}, ''],
  ['{% if value_json.on is true %}on{% else %}off{% endif %}', { on: true }, 'on'],
  ['{{ value_json.x is none }}', { x: null }, true],
  ['{{ value_json.x is not defined }}', {}, true],
  ["{{ 'b' in value }}", 'abc', true],
  ["{% set words = ['a', 'b'] %}{{ value in words }}", 'b', true],
  ["{% set words = {'a': 1} %}{{ value not in words }}", 'b', true],
  ['{% set x = value_json.mode %}{{ x | upper }}', { mode: 'eco' }, 'ECO'],
  ['{{ (value_json.f | float - 32) / 1.8 | round(1) }}', { f: 212 }, 100],
  // Zigbee2MQTT
  ["{{ {'off':0, 'low':1, 'on':4}[value_json[\"fan_mode\"]] | default('None') }}", { fan_mode: 'low' }, '1'],
  ["{{ {'off':0, 'low':1, 'on':4}[value_json[\"fan_mode\"]] | default('None') }}", { fan_mode: 'smart' }, 'None'],
  [
    "{{ value_json[\"fan_mode\"] if value_json[\"fan_mode\"] in ['smart'] else 'None' | default('None') }}",
    { fan_mode: 'low' },
    'None',
  ],
  [
    "{% set values = {None:None,'idle':'idle','heat':'heating'} %}{{ values[value_json[\"running_state\"]] }}",
    { running_state: 'heat' },
    'heating',
  ],
  [
    "{% set values = {None:None,'idle':'idle'} %}{{ values[value_json[\"running_state\"]] }}",
    { running_state: null },
    'None',
  ],
  [
    "{% set values = {'schedule':'auto','pause':'off'} %}{% set value = value_json.operating_mode %}{{ values[value] if value in values.keys() else 'off' }}",
    { operating_mode: 'schedule' },
    'auto',
  ],
  [
    '{% if "running" in value_json and value_json["running"] %} {% if value_json["position"] > 0 %} closing {% else %} opening {% endif %} {% else %} stopped {% endif %}',
    { running: true, position: 4 },
    'closing',
  ],
  [
    '{% if "running" in value_json and value_json["running"] %} {% if value_json["position"] > 0 %} closing {% else %} opening {% endif %} {% else %} stopped {% endif %}',
    { position: 4 },
    'stopped',
  ],
  [
    "{{ value_json[\"text\"] | default('',True) | string | truncate(254, True, '', 0) }}",
    { text: 'x'.repeat(300) },
    'x'.repeat(254),
  ],
  ['{{ value_json.permit_join | lower }}', { permit_join: true }, 'true'],
  ['{{ "offline" }}', {}, 'offline'],
];

for (const [template, payload, result] of rows)
  test(`${template} of ${JSON.stringify(payload)}`, (t) => {
    t.deepEqual(render(template, payload), result);
  });

test('a command template has the value, with its type, and the names of its kind', (t) => {
  const evaluate = (
    template: string,
    value: string | number,
    names: Record<string, string | number | undefined> = {},
  ) => compileTemplate(template, Object.keys(names)).evaluate({ text: value, json: undefined, names });
  t.is(evaluate('{"speed": {{ value }}}', 2.5), '{"speed": 2.5}');
  t.is(evaluate('{"text": "{{ value }}"}', '1.50'), '{"text": "1.50"}');
  t.is(evaluate('{ "position": {{ position }} }', 40, { position: 40 }), '{ "position": 40 }');
  const siren =
    `{"warning": {"mode": "{{ tone | default('emergency') }}", "level": "{% if volume_level is defined %}` +
    '{% if volume_level | float <= 0.25 %}low{% else %}high{% endif %}{% else %}medium{% endif %}", "duration": {{ duration | default(10) }}}}';
  t.is(
    evaluate(siren, 'ON', { tone: undefined, volume_level: undefined, duration: undefined }),
    '{"warning": {"mode": "emergency", "level": "medium", "duration": 10}}',
  );
});

for (const [template, reason] of [
  ["{{ ''.__class__.__mro__[1].__subclasses__() }}", /the template reads a part of a value other than value_json/],
  ['{{ value_json.__class__ }}', /the template reads the forbidden name __class__/],
  ['{{ value_json["__proto__"].x }}', /the template reads the forbidden name __proto__/],
  ['{% for x in range(10**9) %}{% endfor %}', /the template uses the unsupported statement \{% for %\}/],
  ["{{ states('sensor.x') }}", /the template uses the unsupported name states/],
  ['{{ now() }}', /the template uses the unsupported name now/],
  ['{{ self }}', /the template uses the unsupported name self/],
  ['{{ cycler.__init__.__globals__.os.popen("id").read() }}', /the template uses the unsupported name cycler/],
  ["{{ value | regex_findall('(a+)+$') }}", /the template uses the unsupported filter regex_findall/],
  ['{% include "x" %}', /the template uses the unsupported statement \{% include %\}/],
  ["{% if value == '1' %}{% set a = 'x' %}{% endif %}{{ a }}", /the template sets a variable inside an \{% if %\}/],
  [`{{ ${'('.repeat(100)}value${')'.repeat(100)} }}`, /the template is nested more than 20 levels deep/],
  [`{{ ${'value + '.repeat(300)}value }}`, /the template contains an expression of more than 400 tokens/],
  [`{{ value }}${' '.repeat(5000)}`, /the template is longer than 4000 characters/],
  ['{{ }}', /the template contains an incomplete expression/],
] as const)
  test(`${template.slice(0, 60)} is refused with the reason`, (t) => {
    t.throws(() => compileTemplate(template), { instanceOf: TemplateError, message: reason });
  });

test('nothing of an object is reached through its prototype', (t) => {
  for (const name of ['constructor', 'toString', 'hasOwnProperty'])
    t.is(render(`{{ value_json.${name} }}`, { x: 1 }), undefined);
});
