// What a flow file with a Home Assistant connection is told, what its values are, and messages in their readable form.

import test from 'ava';
import { partsOf } from '../../../lib/connections/home-assistant/kinds.ts';
import { itemsOf, settingsSchema } from '../../../lib/connections/home-assistant/settings.ts';
import { readMessage, showMessage } from '../../../lib/connections/home-assistant/text.ts';
import { mistakesOf } from '../../support/core.ts';

const settings = (more: object) => ({ url: 'http://127.0.0.1:9', token: 'a-long-token', ...more });
const flow = (more: object) => ({ connections: { home: { type: 'home-assistant', ...settings(more) } } });

const wrong: readonly (readonly [object, RegExp])[] = [
  [{ url: 'homeassistant.local' }, /the address of Home Assistant such as/],
  [{ token: '' }, /a long-lived access token/],
  [{ values: { a: 'kitchen' } }, /values\.a: expected an entity such as 'light\.kitchen'/],
  [{ values: { a: 'light.kitchen/brigthness' } }, /unknown part of a light "brigthness", did you mean "brightness"\?/],
  [{ values: { a: 'camera.door' } }, /a camera has no value that a parameter could hold/],
  [{ values: { a: { entity: 'sun.sun', attribute: 'elevation' } } }, /expected `type`, because the hub does not know/],
  [{ values: { a: { entity: 'light.a', data: {} } } }, /expected `service`, because `data` is set/],
  [{ values: { a: { service: 'notify.phone', attribute: 'x' } } }, /expected `entity`, because `attribute` is set/],
  [
    { values: { a: { entity: 'binary_sensor.door', type: 'S' } } },
    /expected B, which is the type of this value, or no `type`/,
  ],
  [{ values: { a: { type: 'S' } } }, /expected entity, service, or both/],
  [{ values: { a: { service: 'turn on' } } }, /a service action such as 'light\.turn_on'/],
  [{ tls: { fingerprint: 'ab' } }, /the SHA-256 fingerprint of a certificate/],
  [{ expect: ['kitchen,B'] }, /expect\[0\]: expected an entity/],
  [{ values: { 'light.a': 'light.a' }, expect: ['light.a,B'] }, /`values` does not define/],
];

for (const [more, message] of wrong)
  test(`a mistake is told: ${JSON.stringify(more)}`, async (t) => {
    t.regex((await mistakesOf(t, flow(more))).join('\n'), message);
  });

test('the type of a value follows from its entity, its service and its data', (t) => {
  const values = {
    lamp: 'light.a',
    level: { entity: 'light.a', attribute: 'brightness' },
    temperature: 'sensor.a',
    phase: { entity: 'sensor.a', type: 'S' },
    bell: 'event.bell/press',
    door: { entity: 'lock.a', service: { on: 'script.close', off: 'script.open' } },
    announce: { service: 'notify.phone', data: { message: 'x {value}', other: { deep: ['{value}'] } } },
    evening: { service: 'script.evening' },
    both: { service: { on: 'script.a', off: 'script.b' } },
  };
  const { items, mistakes } = itemsOf(settingsSchema.parse(settings({ values })));
  t.deepEqual(mistakes, []);
  t.is(items.map(({ type }) => type).join(''), 'BFFSTBSTB');
  const call = (id: string, value: string | boolean | number) =>
    items.find((item) => item.id === id)!.part.call!(value, { state: '', attributes: {} });
  t.deepEqual(call('announce', '$& 5'), {
    service: 'notify.phone',
    data: { message: 'x $& 5', other: { deep: ['$& 5'] } },
  });
  t.is(call('door', true).service, 'script.close');
  t.is(call('both', false).service, 'script.b');
});

test('every part of every domain can be called with a value of its type, or is read-only', (t) => {
  const domains = 'light switch number select cover climate fan lock media_player humidifier water_heater vacuum valve';
  const values = { B: true, F: 1, S: '1,1,1', I: 1, T: 1 };
  for (const domain of domains.split(' '))
    for (const [name, { type, call }] of Object.entries(partsOf(domain)!)) {
      const colors: Record<string, string> = { rgbw: '1,1,1,1', rgbww: '1,1,1,1,1', hs: '1,1', xy: '1,1' };
      const called = call?.(colors[name] ?? values[type], { state: 'on', attributes: {} });
      t.true(called === undefined || /^(?:[a-z_]+\.)?[a-z_]+$/.test(called.service), `${domain}/${name}`);
    }
});

const shown = [
  'auth_required',
  'auth_ok',
  'auth_invalid "no"',
  '1 supported_features {"features":{"coalesce_messages":1}}',
  '2 result',
  '2 result {"state":"RUNNING"}',
  '3 error "Value 200 is outside; {of} \\"range\\""',
  '4 states light.a=on {"brightness":3,"friendly_name":"A; {b} \\"c\\""}; sensor.b="a b"',
  '4 change light.a=off; light.b {"brightness":4}',
  '4 remove light.a; light.b',
  '5 call light.turn_on light.a {"brightness":128}',
  '6 call script.evening',
  '7 pong',
];

for (const text of shown)
  test(`a message is read as it is shown: ${text}`, (t) => {
    t.is(showMessage(readMessage(text)), text);
  });

test('what is no message is shown as it is', (t) => {
  for (const text of ['', 'nonsense', '[1]', 'null']) t.is(showMessage(Buffer.from(text)), text);
  t.throws(() => readMessage('!'), { message: /expected a message such as/ });
});
