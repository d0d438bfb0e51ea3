// Devices that announce themselves, by documents in the forms of Home Assistant, ESPHome, Zigbee2MQTT 2, Tasmota and Shelly.

import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../support/deadline.ts';
import { type HubUnderTest, startTestHub, statusOf, writer } from '../../support/hub.ts';
import { joinBroker, type Mosquitto, startMosquitto } from '../../support/mosquitto.ts';
import { needs } from '../../support/programs.ts';

needs('mosquitto');

const everything = { homeAssistant: true, zigbee2mqtt: true, tasmota: true, shelly: true };

async function startHub(
  t: ExecutionContext,
  { url }: Mosquitto,
  discover: object = everything,
  more: object = {},
): Promise<HubUnderTest> {
  const hub = await startTestHub(t, { connections: { home: { type: 'mqtt', url, discover, ...more } } });
  await eventually(() => statusOf(hub, 'home').state === 'running', 'the connection to run');
  return hub;
}

const becomes = (hub: HubUnderTest, id: string, value: unknown) =>
  eventually(
    () => hub.find(`home/${id}`)?.value === value,
    `home/${id} = ${value}, not ${hub.find(`home/${id}`)?.value}`,
  );
const exists = (hub: HubUnderTest, id: string, isThere = true) =>
  eventually(
    () => (hub.find(`home/${id}`) !== undefined) === isThere,
    `home/${id} ${isThere ? 'to be there' : 'to be gone'}`,
  );
const refusedOf = (hub: HubUnderTest) =>
  JSON.parse(String(hub.find('home/refused')!.value ?? '[]')) as { document: string; reasons: string[] }[];

/** As Zigbee2MQTT publishes a bulb. */
const bulb = {
  ieee_address: '0x00158d00018255df',
  type: 'Router',
  network_address: 29159,
  supported: true,
  friendly_name: 'my_bulb',
  disabled: false,
  definition: {
    model: 'LED1624G9',
    vendor: 'IKEA',
    exposes: [
      {
        type: 'light',
        features: [
          {
            type: 'binary',
            name: 'state',
            property: 'state',
            label: 'State',
            access: 7,
            value_on: 'ON',
            value_off: 'OFF',
            value_toggle: 'TOGGLE',
          },
          {
            type: 'numeric',
            name: 'brightness',
            property: 'brightness',
            label: 'Brightness',
            access: 7,
            value_min: 0,
            value_max: 254,
          },
          {
            type: 'composite',
            name: 'color_xy',
            property: 'color',
            label: 'Color',
            access: 7,
            features: [{ type: 'numeric', name: 'x', property: 'x', access: 7 }],
          },
        ],
      },
      { type: 'enum', name: 'effect', property: 'effect', label: 'Effect', access: 2, values: ['blink', 'okay'] },
      {
        type: 'numeric',
        name: 'linkquality',
        property: 'linkquality',
        label: 'Linkquality',
        access: 1,
        unit: 'lqi',
        value_min: 0,
        value_max: 255,
      },
      {
        type: 'binary',
        name: 'child_lock',
        property: 'child_lock',
        label: 'Child lock',
        access: 3,
        value_on: true,
        value_off: false,
      },
      { type: 'list', name: 'schedule', property: 'schedule', access: 3, item_type: { type: 'numeric' } },
    ],
  },
};

test('Zigbee2MQTT: exposes become parameters, by address; a renamed device keeps them', async (t) => {
  const broker = await startMosquitto(t);
  const other = await joinBroker(t, broker);
  await other.say(
    'zigbee2mqtt/bridge/devices',
    JSON.stringify([{ ieee_address: '0x01', type: 'Coordinator', friendly_name: 'Coordinator' }, bulb]),
    true,
  );
  await other.say(
    'zigbee2mqtt/my_bulb',
    '{"state":"ON","brightness":127,"linkquality":80,"color":{"x":0.3},"child_lock":true}',
    true,
  );
  const hub = await startHub(t, broker);
  const id = bulb.ieee_address;
  await becomes(hub, `${id}/state`, true);
  await becomes(hub, `${id}/brightness`, 127);
  await becomes(hub, `${id}/color/x`, 0.3);
  await becomes(hub, `${id}/child_lock`, true);
  const { type, access, about } = hub.find(`home/${id}/brightness`)!;
  t.deepEqual(
    { type, access, about },
    { type: 'F', access: 'read-write', about: { label: 'my_bulb Brightness', min: 0, max: 254 } },
  );
  t.like(hub.find(`home/${id}/linkquality`), { access: 'read-only', about: { unit: 'lqi' } });
  t.like(hub.find(`home/${id}/effect`), { access: 'write-only', about: { choices: { blink: 'blink', okay: 'okay' } } });
  t.deepEqual(refusedOf(hub), [
    {
      document: `zigbee ${id}`,
      reasons: ['my_bulb schedule: values of type list cannot be represented as parameters'],
    },
  ]);
  hub.write(`home/${id}/state`, false, writer);
  await other.hears('zigbee2mqtt/my_bulb/set', '{"state":"OFF"}');
  hub.write(`home/${id}/color/x`, 0.5, writer);
  await other.hears('zigbee2mqtt/my_bulb/set', '{"color":{"x":0.5}}');
  t.throws(() => hub.write(`home/${id}/brightness`, 300, writer), { code: 'out-of-range' });

  await other.say('zigbee2mqtt/my_bulb/availability', '{"state":"offline"}', true);
  await eventually(() => hub.find(`home/${id}/state`)!.device?.staleSince !== undefined, 'a stale device');
  t.is(hub.find('home/refused')!.device?.staleSince, undefined);
  await other.say('zigbee2mqtt/hall/lamp', '{"state":"OFF"}', true);
  await other.say('zigbee2mqtt/bridge/devices', JSON.stringify([{ ...bulb, friendly_name: 'hall/lamp' }]), true);
  await becomes(hub, `${id}/state`, false);
  await eventually(() => hub.find(`home/${id}/state`)!.about!.label === 'hall/lamp State', 'the new label');
  hub.write(`home/${id}/state`, true, writer);
  await other.hears('zigbee2mqtt/hall/lamp/set', '{"state":"ON"}');
  await other.say('zigbee2mqtt/bridge/devices', '[]', true);
  await exists(hub, `${id}/state`, false);
});

test('Home Assistant: documents become parameters; templates outside of the subset are refused with the reason', async (t) => {
  const broker = await startMosquitto(t);
  const other = await joinBroker(t, broker);
  const device = { ids: ['node-1'], name: 'Kitchen' };
  const say = (component: string, object: string, document: object | string) =>
    other.say(
      `homeassistant/${component}/node-1/${object}/config`,
      typeof document === 'string' ? document : JSON.stringify({ dev: device, ...document }),
      true,
    );
  await say('sensor', 'temperature', {
    name: 'Temperature',
    '~': 'node-1',
    stat_t: '~/state',
    val_tpl: '{{ value_json.temperature | float / 10 }}',
    unit_of_meas: '°C',
    stat_cla: 'measurement',
    avty_t: '~/there',
  });
  await say('switch', 'relay', {
    name: 'Relay',
    state_topic: 'node-1/relay',
    command_topic: 'node-1/relay/set',
    payload_on: 'on',
    payload_off: 'off',
  });
  await say('number', 'speed', {
    name: 'Speed',
    stat_t: 'node-1/speed',
    cmd_t: 'node-1/speed/set',
    cmd_tpl: '{"speed": {{ value }}}',
    min: 0,
    max: 10,
    step: 0.5,
  });
  await say('select', 'mode', { stat_t: 'node-1/mode', cmd_t: 'node-1/mode/set', options: ['eco', 'full'] });
  await say('binary_sensor', 'door', {
    stat_t: 'node-1/state',
    val_tpl: '{{ value_json.open }}',
    pl_on: true,
    pl_off: false,
  });
  await say('button', 'restart', { cmd_t: 'node-1/restart' });
  await say('light', 'lamp', { schema: 'json', stat_t: 'node-1/lamp', cmd_t: 'node-1/lamp/set', brightness: true });
  await say('cover', 'blind', {
    stat_t: 'node-1/blind',
    cmd_t: 'node-1/blind/set',
    pos_t: 'node-1/blind/position',
    set_pos_t: 'node-1/blind/position/set',
  });
  await say('climate', 'heater', {
    mode_stat_t: 'node-1/heat',
    mode_cmd_t: 'node-1/heat/set',
    modes: ['off', 'heat'],
    temp_cmd_t: 'node-1/target/set',
    temp_stat_t: 'node-1/target',
    min_temp: 5,
    max_temp: 30,
  });
  await say('sensor', 'hostile', { stat_t: 'node-1/state', val_tpl: "{{ ''.__class__.__mro__[1].__subclasses__() }}" });
  await say('sensor', 'endless', { stat_t: 'node-1/state', val_tpl: '{% for x in range(10**9) %}{% endfor %}' });
  await say('sensor', 'states', { stat_t: 'node-1/state', val_tpl: "{{ states('sensor.x') }}" });
  await say('camera', 'eye', { topic: 'node-1/eye' });
  await say('sensor', 'broken', '{no');
  await other.say(
    'homeassistant/device/node-2/config',
    JSON.stringify({
      dev: { ids: 'node-2' },
      o: { name: 'x' },
      stat_t: 'node-2/state',
      cmps: { power: { p: 'sensor', unit_of_meas: 'W', val_tpl: '{{ value_json.power }}' }, gone: { p: 'sensor' } },
    }),
    true,
  );
  const hub = await startHub(t, broker, { homeAssistant: true });
  await exists(hub, 'node-2/power');
  await other.say('node-1/state', '{"temperature":"215","open":true}');
  await becomes(hub, 'node-1/temperature', 21.5);
  await becomes(hub, 'node-1/door', true);
  t.like(hub.find('home/node-1/temperature'), { type: 'F', about: { unit: '°C', label: 'Kitchen Temperature' } });
  await other.say('node-1/relay', 'on');
  await becomes(hub, 'node-1/relay', true);
  hub.write('home/node-1/relay', false, writer);
  await other.hears('node-1/relay/set', 'off');
  hub.write('home/node-1/speed', 2.5, writer);
  await other.hears('node-1/speed/set', '{"speed": 2.5}');
  t.deepEqual(hub.find('home/node-1/speed')!.about, { label: 'Kitchen Speed', min: 0, max: 10, step: 0.5 });
  t.throws(() => hub.write('home/node-1/mode', 'other', writer), { code: 'out-of-range' });
  hub.write('home/node-1/restart', true, writer);
  await other.hears('node-1/restart', 'PRESS');
  await other.say('node-1/lamp', '{"state":"ON","brightness":100}');
  await becomes(hub, 'node-1/lamp/state', true);
  hub.write('home/node-1/lamp/brightness', 7, writer);
  await other.hears('node-1/lamp/set', '{"state":"ON","brightness":7}');
  hub.write('home/node-1/blind/open', true, writer);
  await other.hears('node-1/blind/set', 'OPEN');
  await other.say('node-1/target', '21');
  await becomes(hub, 'node-1/heater/temperature', 21);
  await other.say('node-2/state', '{"power":12}');
  await becomes(hub, 'node-2/power', 12);
  const refused = new Map(refusedOf(hub).map(({ document, reasons }) => [document.split('/').at(-2), reasons.join()]));
  t.regex(refused.get('hostile')!, /the template reads a part of a value other than value_json/);
  t.regex(refused.get('endless')!, /the template uses the unsupported statement \{% for %\}/);
  t.regex(refused.get('states')!, /the template uses the unsupported name states/);
  t.regex(refused.get('eye')!, /a camera has no value that a parameter could hold/);
  t.regex(refused.get('broken')!, /it is not JSON/);
  t.is(hub.find('home/node-1/hostile'), undefined);
  await other.say('node-1/there', 'offline');
  await eventually(() => hub.find('home/node-1/temperature')!.device?.staleSince !== undefined, 'a stale value');
  await say('sensor', 'temperature', '');
  await exists(hub, 'node-1/temperature', false);
});

test('availability follows its mode, a value expires alone, and true ends by itself', async (t) => {
  const broker = await startMosquitto(t);
  const other = await joinBroker(t, broker);
  const say = (component: string, object: string, document: object) =>
    other.say(`homeassistant/${component}/${object}/config`, JSON.stringify({ dev: { ids: [object] }, ...document }));
  const availability = [{ topic: 'a/one' }, { topic: 'a/two' }];
  const hub = await startHub(t, broker, { homeAssistant: true });
  for (const mode of ['all', 'any', 'latest'])
    await say('sensor', mode, { stat_t: `${mode}/state`, availability, availability_mode: mode });
  await say('sensor', 'brief', { stat_t: 'brief/state', exp_aft: 0.3 });
  await say('binary_sensor', 'motion', { stat_t: 'motion/state', off_dly: 0.3 });
  await say('event', 'button', { stat_t: 'button/state', event_types: ['single'] });
  await exists(hub, 'button/button/single');
  const isStale = (id: string) => hub.find(`home/${id}`)!.device?.staleSince !== undefined;
  const areStale = (ids: readonly string[]) =>
    eventually(
      () => ['all', 'any', 'latest'].every((mode) => isStale(`${mode}/${mode}`) === ids.includes(mode)),
      `stale: ${ids.join()}`,
    );
  await other.say('a/one', 'offline');
  await areStale(['all', 'any', 'latest']);
  await other.say('a/two', 'online');
  await areStale(['all']);
  await other.say('a/one', 'online');
  await areStale([]);
  await other.say('a/two', 'offline');
  await areStale(['all', 'latest']);

  await other.say('brief/state', 'x');
  await becomes(hub, 'brief/brief', 'x');
  t.false(isStale('brief/brief'));
  await eventually(() => isStale('brief/brief'), 'an expired value');
  t.is(hub.find('home/brief/brief')!.value, 'x');
  await other.say('brief/state', 'x');
  await eventually(() => !isStale('brief/brief'), 'a fresh value');
  await other.say('motion/state', 'ON');
  await becomes(hub, 'motion/motion', true);
  await becomes(hub, 'motion/motion', false);
  let fired = 0;
  const listening = hub.changes$.subscribe(({ parameter }) => {
    if (parameter.address === 'home/button/button/single') fired++;
  });
  for (const retained of [false, false, true]) await other.say('button/state', '{"event_type":"single"}', retained);
  await eventually(() => fired >= 2, 'two presses');
  listening.unsubscribe();
});

test('a document that comes again changes nothing: a pending write stays, and no topic is subscribed again', async (t) => {
  const broker = await startMosquitto(t);
  const other = await joinBroker(t, broker);
  const document = JSON.stringify({ dev: { ids: ['node'] }, stat_t: 'relay', cmd_t: 'relay/set' });
  await other.say('homeassistant/switch/relay/config', document, true);
  await other.say('zigbee2mqtt/bridge/devices', JSON.stringify([bulb]), true);
  await other.say('relay', 'OFF', true);
  const hub = await startHub(t, broker);
  await becomes(hub, 'node/relay', false);
  await exists(hub, `${bulb.ieee_address}/state`);
  const declared = hub.find('home/node/relay');
  hub.write('home/node/relay', true, writer);
  hub.write(`home/${bulb.ieee_address}/state`, true, writer);
  await other.say('homeassistant/switch/relay/config', document, true);
  await other.say(
    'zigbee2mqtt/bridge/devices',
    JSON.stringify([bulb, { ...bulb, ieee_address: '0x02', friendly_name: 'b' }]),
    true,
  );
  await exists(hub, '0x02/state');
  t.is(hub.find('home/node/relay'), declared);
  t.is(declared!.wanted?.value, true);
  t.is(hub.find(`home/${bulb.ieee_address}/state`)!.wanted?.value, true);
  await other.say('homeassistant/switch/relay/config', '', true);
  await exists(hub, 'node/relay', false);
  await other.say('homeassistant/switch/relay/config', document, true);
  await becomes(hub, 'node/relay', false);
});

test('Tasmota: relays and sensors, with the topics and words of the device', async (t) => {
  const broker = await startMosquitto(t);
  const other = await joinBroker(t, broker);
  const config = {
    ip: '10.0.0.9',
    dn: 'Tasmota',
    fn: ['Plug', null],
    hn: 'plug',
    mac: 'DC4F22D6F1A1',
    md: 'Sonoff',
    ofln: 'Offline',
    onln: 'Online',
    state: ['OFF', 'ON', 'TOGGLE', 'HOLD'],
    t: 'plug',
    ft: '%prefix%/%topic%/',
    tp: ['cmnd', 'stat', 'tele'],
    rl: [1, 0, 0, 0],
    ver: 1,
  };
  await other.say('tasmota/discovery/DC4F22D6F1A1/config', JSON.stringify(config), true);
  await other.say(
    'tasmota/discovery/DC4F22D6F1A1/sensors',
    '{"sn":{"Time":"2026-01-01T00:00:00","AM2301":{"Temperature":21.1,"Humidity":40},"TempUnit":"C"},"ver":1}',
    true,
  );
  const hub = await startHub(t, broker);
  await exists(hub, 'DC4F22D6F1A1/AM2301/Temperature');
  t.like(hub.find('home/DC4F22D6F1A1/AM2301/Temperature'), { type: 'F', about: { unit: '°C' } });
  await other.say('tele/plug/SENSOR', '{"Time":"x","AM2301":{"Temperature":22,"Humidity":41}}');
  await becomes(hub, 'DC4F22D6F1A1/AM2301/Humidity', 41);
  await other.say('tele/plug/STATE', '{"POWER":"ON"}');
  await becomes(hub, 'DC4F22D6F1A1/power', true);
  hub.write('home/DC4F22D6F1A1/power', false, writer);
  await other.hears('cmnd/plug/POWER', 'OFF');
  await other.say('stat/plug/RESULT', '{"POWER":"OFF"}');
  await becomes(hub, 'DC4F22D6F1A1/power', false);
  t.is(hub.find('home/DC4F22D6F1A1/power')!.about!.label, 'Plug');
  await other.say('tele/plug/LWT', 'Offline', true);
  await eventually(() => hub.find('home/DC4F22D6F1A1/power')!.device?.staleSince !== undefined, 'a stale device');
});

test('Shelly: both generations', async (t) => {
  const broker = await startMosquitto(t);
  const other = await joinBroker(t, broker);
  const hub = await startHub(t, broker);
  await other.say(
    'shellyplus1pm-a8032ab12345/status/switch:0',
    '{"id":0,"source":"MQTT","output":true,"apower":12.5,"voltage":229.8,"aenergy":{"total":1.5}}',
  );
  await becomes(hub, 'shellyplus1pm-a8032ab12345/switch/0', true);
  await becomes(hub, 'shellyplus1pm-a8032ab12345/switch/0/power', 12.5);
  hub.write('home/shellyplus1pm-a8032ab12345/switch/0', false, writer);
  await other.hears('shellyplus1pm-a8032ab12345/command/switch:0', 'off');
  await other.say('shellies/shelly1-B929CC/relay/0', 'on');
  await becomes(hub, 'shelly1-B929CC/relay/0', true);
  hub.write('home/shelly1-B929CC/relay/0', false, writer);
  await other.hears('shellies/shelly1-B929CC/relay/0/command', 'off');
  await other.say('shellies/shelly1-B929CC/online', 'false');
  await eventually(() => hub.find('home/shelly1-B929CC/relay/0')!.device?.staleSince !== undefined, 'a stale device');
  t.is(hub.find('home/shellyplus1pm-a8032ab12345/switch/0')!.device?.staleSince, undefined);
});

test('500 devices are there soon, and again after the broker was away; topics outside of allow are not', async (t) => {
  const broker = await startMosquitto(t);
  const other = await joinBroker(t, broker, []);
  const address = (index: number) => `0x${String(index).padStart(16, '0')}`;
  const devices = Array.from({ length: 500 }, (_, index) => ({
    ...bulb,
    ieee_address: address(index),
    friendly_name: `bulb ${index}`,
  }));
  await other.say('zigbee2mqtt/bridge/devices', JSON.stringify(devices), true);
  const startMs = performance.now();
  const hub = await startHub(t, broker, { zigbee2mqtt: true, deny: ['zigbee2mqtt/bulb 7'] });
  await exists(hub, `${address(499)}/state`);
  const takenMs = performance.now() - startMs;
  t.log(`${Math.round(takenMs)} ms`);
  t.true(takenMs < 20_000, 'of which 2 s are the promise, on a machine that does nothing else');
  t.is(hub.find(`home/${address(7)}/state`), undefined);
  await other.say('zigbee2mqtt/bulb 499', '{"state":"ON"}', true);
  await becomes(hub, `${address(499)}/state`, true);
});

test('what `expect` names takes over what the device announces: rights, metadata and staleness', async (t) => {
  const broker = await startMosquitto(t);
  const hub = await startHub(t, broker, { homeAssistant: true }, { expect: ['kit01/a,B', 'kit01/motion,B'] });
  const { say } = await joinBroker(t, broker);
  const device = { identifiers: ['kit01'] };
  const availability_topic = 'kit/avail';
  const announce = (component: string, name: string, more: object) =>
    say(
      `homeassistant/${component}/kit01/${name}/config`,
      JSON.stringify({ device, unique_id: `kit01_${name}`, object_id: name, availability_topic, ...more }),
      true,
    );
  const isStale = (id: string, stale: boolean) =>
    eventually(() => (hub.find(`home/${id}`)?.device?.staleSince !== undefined) === stale, `${id} stale: ${stale}`);
  const refused = { message: 'kit01/a: the device currently does not have this parameter' };
  t.throws(() => hub.write('home/kit01/a', true, writer), refused);
  await announce('switch', 'a', { name: 'Lamp', command_topic: 'a/set', state_topic: 'a/state' });
  await announce('binary_sensor', 'motion', { state_topic: 'motion/state' });
  await say('kit/avail', 'online', true);
  await eventually(() => hub.find('home/kit01/motion')?.access === 'read-only', 'a sensor to be read-only');
  t.is(hub.find('home/kit01/a')?.access, 'read-write');
  t.is(hub.find('home/kit01/a')?.about?.label, 'Lamp');
  t.throws(() => hub.write('home/kit01/motion', true, writer), { message: /read-only/ });
  await say('kit/avail', 'offline', true);
  await isStale('kit01/a', true);
  await isStale('kit01/motion', true);
  await say('kit/avail', 'online', true);
  await isStale('kit01/a', false);
  t.notThrows(() => hub.write('home/kit01/a', true, writer));
  await say('homeassistant/switch/kit01/a/config', '', true);
  await eventually(() => {
    try {
      hub.write('home/kit01/a', true, writer);
    } catch (error) {
      return (error as Error).message === refused.message;
    }
    return false;
  }, 'the removed parameter to refuse writes');
});
