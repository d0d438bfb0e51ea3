// The documents that a bridge publishes are valid by the documentation of Home Assistant, for every kind of parameter.

import test from 'ava';
import { announce } from '../../../lib/connections/mqtt/announce.ts';
import type { About, Access, Parameter } from '../../../lib/model/parameter.ts';
import type { ValueType } from '../../../lib/model/value.ts';
import { mistakesIn, platforms } from './home-assistant.ts';

const abouts: readonly (About | undefined)[] = [
  undefined,
  { label: 'Mic 1', unit: 'dB', min: -90, max: 10 },
  { min: 5, max: 5 },
  { max: 10 },
  { min: 1e12 },
  { step: 0.00001 },
  { step: 1000, min: 0, max: 10 },
  { choices: { off: 0, on: 1 } },
  { choices: { '"quoted" %} {{ x }} \\ é': 'a', other: 'b' } },
  { choices: {} },
  { class: 'meter', description: 'x' },
];
const addresses = [
  'desk/level',
  'desk/a+b',
  'desk/Größe #1/%',
  `desk/${'x'.repeat(255)}`,
  'desk/a b',
  'desk/\u{fdd0}',
  'desk/a_b',
  'desk/a/b',
];

test('every document is valid, and has its own ID', (t) => {
  const found = new Set<string>();
  const ids = new Map<string, string>();
  for (const type of ['S', 'B', 'I', 'F', 'T'] as const satisfies readonly ValueType[])
    for (const access of ['read-only', 'write-only', 'read-write'] as const satisfies readonly Access[])
      for (const isAccepted of [true, false])
        for (const address of addresses)
          for (const about of abouts) {
            const parameter = { address, type, access, about } as unknown as Parameter;
            const topic = `a/hub/${address.replace(/[%+#\u{fdd0}]/gu, encodeURIComponent)}`;
            const made = announce(parameter, {
              prefix: 'a/hub',
              discovery: 'homeassistant',
              topic,
              status: 'a/hub/status',
              isAccepted,
              version: '1.0.0',
            });
            t.deepEqual(
              mistakesIn(made.topic, made.text),
              [],
              `${type} ${access} ${address} ${JSON.stringify(about)}: ${made.text}`,
            );
            found.add(made.topic.split('/')[1]!);
            const { unique_id: id } = JSON.parse(made.text);
            t.is(ids.get(id) ?? address, address, id);
            ids.set(id, address);
          }
  t.deepEqual([...found].sort(), Object.keys(platforms).sort());
});

test('the check finds what is wrong', (t) => {
  const valid = { name: 'x', unique_id: 'x', device: { identifiers: ['x'] }, origin: { name: 'x' } };
  const wrong = (component: string, document: object) =>
    mistakesIn(`homeassistant/${component}/node/it/config`, JSON.stringify({ ...valid, ...document })).join();
  t.is(wrong('sensor', {}), 'sensor: state_topic is missing');
  t.is(wrong('sensor', { state_topic: 'a/#' }), 'sensor: state_topic cannot be "a/#"');
  t.is(wrong('number', { command_topic: 'a', min: 5, max: 5 }), 'number: max has to be greater than min');
  t.is(wrong('sensor', { state_topic: 'a', options: ['x'] }), 'sensor: options and the class "enum" come together');
  t.is(wrong('switch', { command_topic: 'a', color: 'x' }), 'switch: there is no key color');
  t.is(wrong('text', { command_topic: 'a', max: 256 }), 'text: max cannot be 256');
});
