// Documents of the MQTT discovery, and the parameters that they become. The keys and payloads are those that ESPHome (`components/mqtt`), Zigbee2MQTT
// 2.12 (`lib/extension/homeassistant.ts`, `bridge/devices`), Tasmota (`xdrv_12_discovery`, and what hatasmota reads) publish, and the
// documentation of Home Assistant has for each kind.

import test from 'ava';
import type { Binding } from '../../../lib/connections/mqtt/bindings.ts';
import { entitiesIn, placeIn } from '../../../lib/connections/mqtt/documents.ts';
import { describeEntity } from '../../../lib/connections/mqtt/entities.ts';
import { tasmotaDevice } from '../../../lib/connections/mqtt/tasmota.ts';
import { shellyDevice, zigbeeDevices } from '../../../lib/connections/mqtt/vendors.ts';
import { Payload } from '../../../lib/device/payload.ts';
import type { Value } from '../../../lib/model/value.ts';

class Described {
  readonly #bindings: ReadonlyMap<string, Binding>;
  readonly refused: readonly string[];

  constructor(bindings: readonly Binding[], refused: readonly string[] = []) {
    this.#bindings = new Map(bindings.map((binding) => [binding.id, binding]));
    this.refused = refused;
  }

  get ids(): readonly string[] {
    return [...this.#bindings.keys()].sort();
  }

  get(id: string): Binding {
    const found = this.#bindings.get(id);
    if (found === undefined) throw new Error(`expected one of ${this.ids.join(', ')}, got ${id}`);
    return found;
  }

  read(id: string, payload: unknown): Value | null | undefined {
    return this.get(id).read(new Payload(Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload))));
  }

  write(id: string, value: Value): readonly [topic: string, payload: string] {
    const { topic, format } = this.get(id).write!;
    return [topic, format(value)];
  }
}

function describe(topic: string, document: object): Described {
  const found = entitiesIn(placeIn(topic, 'homeassistant')!, document).map(([place, one]) =>
    describeEntity(place, one),
  );
  return new Described(
    found.flatMap(({ bindings }) => bindings),
    found.flatMap(({ refused }) => refused),
  );
}

const esphome = (component: string, document: object) =>
  describe(`homeassistant/${component}/node/it/config`, {
    name: 'It',
    avty_t: 'node/status',
    uniq_id: `ESP${component}it`,
    dev: {
      ids: 'aabbccddeeff',
      name: 'Node',
      sw: 'esphome v2024',
      mdl: 'esp32dev',
      mf: 'Espressif',
      cns: [['mac', 'aabbccddeeff']],
    },
    ...document,
  });
const id = 'aabbccddeeff/it';
const topics = { stat_t: 'node/it/state', cmd_t: 'node/it/command' };

test('ESPHome: sensors have their units; text sensors, times and dates are text', (t) => {
  const sensor = esphome('sensor', {
    stat_t: 'node/it/state',
    dev_cla: 'temperature',
    unit_of_meas: '°C',
    stat_cla: 'measurement',
    exp_aft: 60,
  });
  t.like(sensor.get(id), { type: 'F', about: { label: 'Node It', unit: '°C' }, expireMs: 60_000 });
  t.is(sensor.read(id, '21.50'), 21.5);
  t.is(sensor.read(id, 'None'), null);
  t.is(esphome('sensor', { stat_t: 'a' }).get(id).type, 'S');
  t.is(esphome('sensor', { stat_t: 'a', dev_cla: 'timestamp' }).get(id).type, 'S');
  t.is(esphome('sensor', { stat_t: 'a', dev_cla: 'battery' }).get(id).type, 'F');
  t.is(esphome('sensor', { stat_t: 'a', sug_dsp_prc: 1 }).get(id).type, 'F');
  t.is(esphome('datetime', topics).get(id).type, 'S');
});

test('ESPHome: numbers, selects, texts, buttons, switches and locks', (t) => {
  const number = esphome('number', { ...topics, min: -10, max: 10.5, step: 0.5, mode: 'slider', unit_of_meas: 'dB' });
  t.like(number.get(id), { type: 'F', about: { min: -10, max: 10.5, step: 0.5, unit: 'dB' } });
  t.deepEqual(number.write(id, 2.5), ['node/it/command', '2.5']);
  const select = esphome('select', { ...topics, options: ['eco', 'full'] });
  t.like(select.get(id), { type: 'S', about: { choices: { eco: 'eco', full: 'full' } } });
  t.deepEqual(esphome('button', { cmd_t: 'b' }).write(id, 1), ['b', 'PRESS']);
  const relay = esphome('switch', { ...topics, opt: true });
  t.deepEqual(relay.write(id, false), ['node/it/command', 'OFF']);
  t.true(relay.get(id).write!.isOptimistic);
  t.is(relay.read(id, 'ON'), true);
  const lock = esphome('lock', { ...topics, pl_open: 'OPEN' });
  t.is(lock.read(id, 'LOCKED'), true);
  t.is(lock.read(id, 'LOCKING'), undefined);
  t.is(lock.read(id, 'JAMMED'), undefined);
  t.deepEqual(lock.write(id, false), ['node/it/command', 'UNLOCK']);
  t.deepEqual(lock.write(`${id}/open`, 1), ['node/it/command', 'OPEN']);
  t.true(esphome('switch', { ...topics, retain: true }).get(id).write!.isRetained);
});

test('ESPHome: a light has brightness, color temperature, colors and effects as JSON', (t) => {
  const light = esphome('light', {
    ...topics,
    schema: 'json',
    color_mode: true,
    sup_clrm: ['color_temp', 'rgb'],
    brightness: true,
    effect: true,
    fx_list: ['None', 'Pulse'],
    min_mirs: 154,
    max_mirs: 400,
  });
  t.deepEqual(
    light.ids,
    ['brightness', 'color-temp', 'effect', 'rgb', 'state'].map((name) => `${id}/${name}`),
  );
  t.like(light.get(`${id}/brightness`).about, { min: 0, max: 255 });
  t.like(light.get(`${id}/color-temp`).about, { unit: 'mired', min: 154, max: 400 });
  t.is(light.read(`${id}/rgb`, { state: 'ON', color_mode: 'rgb', color: { r: 255, g: 0, b: 127 } }), '255,0,127');
  t.is(light.read(`${id}/rgb`, { state: 'ON' }), undefined);
  t.deepEqual(light.write(`${id}/rgb`, '1,2,3'), ['node/it/command', '{"state":"ON","color":{"r":1,"g":2,"b":3}}']);
  for (const wrong of ['1,2', '1,2,256', '1,2,', 'red', '1,2,3,4'])
    t.throws(() => light.write(`${id}/rgb`, wrong), { code: 'not-convertible' });
  t.deepEqual(light.write(`${id}/state`, false), ['node/it/command', '{"state":"OFF"}']);
  t.is(light.read(`${id}/brightness`, { state: 'ON', brightness: 12 }), 12);
  t.like(
    esphome('light', { ...topics, schema: 'json', brightness: true, bri_scl: 100 }).get(`${id}/brightness`).about,
    { max: 100 },
  );
});

test('a light of the default schema, and one of templates', (t) => {
  const light = esphome('light', {
    ...topics,
    bri_stat_t: 'l/b',
    bri_cmd_t: 'l/b/set',
    bri_scl: 100,
    rgb_stat_t: 'l/rgb',
    rgb_cmd_t: 'l/rgb/set',
    rgb_cmd_tpl: '#{{ red }}-{{ green }}-{{ blue }}',
    clr_temp_stat_t: 'l/t',
    clr_temp_cmd_t: 'l/t/set',
    clr_temp_k: true,
    min_k: 2200,
    max_k: 6000,
    fx_cmd_t: 'l/fx',
    fx_list: ['rainbow'],
    pl_on: '1',
    pl_off: '0',
  });
  t.deepEqual(light.write(`${id}/rgb`, '1,2,3'), ['l/rgb/set', '#1-2-3']);
  t.like(light.get(`${id}/brightness`).about, { min: 0, max: 100 });
  t.like(light.get(`${id}/color-temp`).about, { unit: 'K', min: 2200, max: 6000 });
  t.deepEqual(light.write(`${id}/state`, true), ['node/it/command', '1']);
  const templated = esphome('light', {
    ...topics,
    schema: 'template',
    cmd_on_tpl: 'on{% if brightness is defined %},{{ brightness }}{% endif %}',
    cmd_off_tpl: 'off',
    stat_tpl: "{{ value.split(',')[0] }}",
    bri_tpl: '{{ value_json.b }}',
  });
  t.regex(templated.refused[0]!, /state: the template reads a part of a value other than value_json/);
  t.deepEqual(templated.write(`${id}/brightness`, 9), ['node/it/command', 'on,9']);
});

test('covers and valves have one set of states, and the range of the device', (t) => {
  const cover = esphome('cover', {
    ...topics,
    pos_t: 'c/p',
    set_pos_t: 'c/p/set',
    tilt_cmd_t: 'c/t/set',
    tilt_status_t: 'c/t',
    tilt_max: 90,
  });
  t.is(cover.read(`${id}/state`, 'opening'), 'opening');
  t.like(cover.get(`${id}/position`).about, { unit: '%', min: 0, max: 100 });
  t.like(cover.get(`${id}/tilt`).about, { min: 0, max: 90 });
  t.deepEqual(cover.write(`${id}/stop`, 1), ['node/it/command', 'STOP']);
  const other = esphome('cover', {
    ...topics,
    stat_open: 'OPEN',
    stat_clsd: 'CLOSE',
    stat_stopped: 'STOP',
    pl_stop: null,
    pos_open: 0,
    pos_clsd: 255,
    pos_t: 'p',
    set_pos_t: 'p/set',
    set_pos_tpl: '{ "position": {{ position }} }',
    pos_tpl: '{{ value_json["position"] }}',
  });
  t.is(other.read(`${id}/state`, 'CLOSE'), 'closed');
  t.false(other.ids.includes(`${id}/stop`));
  t.like(other.get(`${id}/position`).about, { min: 0, max: 255 });
  t.deepEqual(other.write(`${id}/position`, 40), ['p/set', '{ "position": 40 }']);
  const valve = esphome('valve', { ...topics, pos: true });
  t.is(valve.read(`${id}/position`, '40'), 40);
  t.is(valve.read(`${id}/position`, { position: 41, state: 'opening' }), 41);
  t.deepEqual(esphome('valve', topics).write(`${id}/open`, 1), ['node/it/command', 'OPEN']);
});

test('climates have modes, targets, humidity, fan, swing and presets', (t) => {
  const climate = esphome('climate', {
    curr_temp_t: 'n/ct',
    mode_cmd_t: 'n/m/set',
    mode_stat_t: 'n/m',
    modes: ['off', 'heat'],
    temp_lo_cmd_t: 'n/lo/set',
    temp_lo_stat_t: 'n/lo',
    temp_hi_cmd_t: 'n/hi/set',
    temp_hi_stat_t: 'n/hi',
    min_temp: 10,
    max_temp: 30,
    temp_step: 0.5,
    temp_unit: 'C',
    act_t: 'n/a',
    fan_mode_cmd_t: 'n/f/set',
    fan_mode_stat_t: 'n/f',
    fan_modes: ['on', 'off', 'auto'],
    swing_mode_cmd_t: 'n/s/set',
    swing_mode_stat_t: 'n/s',
    swing_modes: ['off', 'both'],
    pr_mode_cmd_t: 'n/p/set',
    pr_mode_stat_t: 'n/p',
    pr_modes: ['eco', 'away'],
    hum_cmd_t: 'n/h/set',
    hum_stat_t: 'n/h',
    min_hum: 20,
    max_hum: 80,
    curr_hum_t: 'n/ch',
  });
  t.deepEqual(
    climate.ids,
    [
      'action',
      'current-humidity',
      'current-temperature',
      'fan-mode',
      'mode',
      'preset-mode',
      'swing-mode',
      'target-humidity',
      'temperature-high',
      'temperature-low',
    ].map((name) => `${id}/${name}`),
  );
  t.like(climate.get(`${id}/temperature-low`).about, { unit: '°C', min: 10, max: 30, step: 0.5 });
  t.like(climate.get(`${id}/target-humidity`).about, { unit: '%', min: 20, max: 80 });
  t.like(climate.get(`${id}/preset-mode`).about!.choices, { none: 'none', eco: 'eco' });
  const usual = esphome('climate', { temp_cmd_t: 'x', mode_cmd_t: 'y' });
  t.like(usual.get(`${id}/temperature`).about, { min: 7, max: 35, step: 1 });
  t.deepEqual(Object.keys(usual.get(`${id}/mode`).about!.choices!), ['auto', 'off', 'cool', 'heat', 'dry', 'fan_only']);
});

test('fans have their range of speeds, presets, oscillation and direction', (t) => {
  const fan = esphome('fan', {
    ...topics,
    pct_cmd_t: 'f/s/set',
    pct_stat_t: 'f/s',
    spd_rng_max: 3,
    osc_cmd_t: 'f/o/set',
    osc_stat_t: 'f/o',
    pr_mode_cmd_t: 'f/p/set',
    pr_mode_stat_t: 'f/p',
    pr_modes: ['auto'],
    dir_cmd_t: 'f/d/set',
    dir_stat_t: 'f/d',
  });
  t.like(fan.get(`${id}/percentage`).about, { min: 0, max: 3, step: 1 });
  t.deepEqual(fan.write(`${id}/oscillation`, true), ['f/o/set', 'oscillate_on']);
  t.is(fan.read(`${id}/oscillation`, 'oscillate_off'), false);
  t.deepEqual(Object.keys(fan.get(`${id}/direction`).about!.choices!), ['forward', 'reverse']);
  t.is(fan.read(`${id}/percentage`, 'None'), null);
});

test('events and buttons of devices fire triggers, of which the same twice is two', (t) => {
  const event = esphome('event', { stat_t: 'e', event_types: ['single', 'double'] });
  t.deepEqual(event.ids, [id, `${id}/double`, `${id}/single`]);
  t.is(event.read(id, { event_type: 'single' }), 'single');
  t.is(event.read(`${id}/single`, { event_type: 'single', duration: 0.1 }), 1);
  t.is(event.read(`${id}/double`, { event_type: 'single' }), undefined);
  const template = esphome('event', {
    stat_t: 'e',
    evt_typ: ['up'],
    val_tpl: '{"event_type": "{{ value_json.a | lower }}"}',
  });
  t.is(template.read(`${id}/up`, { a: 'UP' }), 1);
  const automation = describe('homeassistant/device_automation/0x01/action_single/config', {
    automation_type: 'trigger',
    type: 'action',
    subtype: 'single',
    payload: 'single',
    topic: 'zigbee2mqtt/button/action',
    device: { identifiers: ['zigbee2mqtt_0x01'], name: 'button' },
  });
  t.like(automation.get('zigbee2mqtt_0x01/action_single'), { type: 'T', topic: 'zigbee2mqtt/button/action' });
  t.is(automation.read('zigbee2mqtt_0x01/action_single', 'single'), 1);
  t.is(automation.read('zigbee2mqtt_0x01/action_single', 'double'), undefined);
});

test('updates, sirens, humidifiers, water heaters, vacuums and others have what fits', (t) => {
  const update = esphome('update', { ...topics, schema: 'json', pl_inst: 'INSTALL' });
  t.is(update.read(`${id}/installed-version`, { installed_version: '1', latest_version: '2' }), '1');
  t.is(update.read(`${id}/latest-version`, { installed_version: '1', latest_version: '2' }), '2');
  t.deepEqual(update.write(`${id}/install`, 1), ['node/it/command', 'INSTALL']);
  const siren = esphome('siren', topics);
  t.deepEqual(siren.write(id, true), ['node/it/command', '{"state":"ON"}']);
  t.is(siren.read(id, { state: 'OFF' }), false);
  t.is(siren.read(id, 'ON'), true);
  const warning = esphome('siren', {
    ...topics,
    cmd_tpl: `{"mode": "{{ tone | default('emergency') }}"}`,
    cmd_off_tpl: '{"mode": "stop"}',
  });
  t.deepEqual(warning.write(id, true)[1], '{"mode": "emergency"}');
  t.deepEqual(warning.write(id, false)[1], '{"mode": "stop"}');
  t.like(esphome('humidifier', { ...topics, hum_cmd_t: 'h' }).get(`${id}/target-humidity`).about, { min: 0, max: 100 });
  t.true(esphome('water_heater', { temp_cmd_t: 'h', mode_cmd_t: 'm' }).ids.includes(`${id}/mode`));
  t.is(esphome('vacuum', topics).read(`${id}/state`, { state: 'docked' }), 'docked');
  t.deepEqual(esphome('notify', { cmd_t: 'n' }).write(id, 'hello'), ['n', 'hello']);
  t.is(esphome('device_tracker', { stat_t: 'n', pl_home: 'here' }).read(id, 'here'), 'home');
  t.deepEqual(esphome('camera', { t: 'n' }).refused, ['a camera has no value that a parameter could hold']);
  t.deepEqual(esphome('sensor', {}).refused, ['the sensor has no topic']);
  t.regex(esphome('alarm_control_panel', topics).refused[0]!, /may need a code/);
});

test('binary sensors: words, off_delay, and a value that is no word of theirs', (t) => {
  const motion = esphome('binary_sensor', { stat_t: 'm', dev_cla: 'motion', off_dly: 30 });
  t.like(motion.get(id), { type: 'B', offMs: 30_000 });
  t.is(motion.read(id, 'ON'), true);
  t.is(motion.read(id, 'None'), null);
  t.throws(() => motion.read(id, 'on'), { code: 'not-convertible' });
  t.is(esphome('binary_sensor', { stat_t: 'm', off_dly: 1e9 }).get(id).offMs, 2 ** 31 - 1);
  t.is(
    esphome('sensor', { stat_t: 'm', exp_aft: 2_592_000 }).get(id).expireMs,
    2 ** 31 - 1,
    '30 days are longer than a timer',
  );
  t.is(esphome('sensor', { stat_t: 'm', exp_aft: 0 }).get(id).expireMs, undefined);
  const json = esphome('binary_sensor', {
    stat_t: 'm',
    pl_on: true,
    pl_off: false,
    val_tpl: '{{ value_json.contact }}',
  });
  t.is(json.read(id, { contact: false }), false);
  t.is(json.read(id, {}), undefined);
});

test('a device document: shared keys, the base topic, an entity that is removed', (t) => {
  const device = describe('homeassistant/device/0AFFD2/config', {
    '~': 'plant',
    dev: { ids: ['0AFFD2'], name: 'Plant' },
    o: { name: 'bla2mqtt', sw: '2.1', url: 'https://bla2mqtt.example.com' },
    stat_t: '~/state',
    avty: [{ t: '~/there', val_tpl: '{{ value_json.state }}' }, { t: 'bridge/state' }],
    avty_mode: 'all',
    cmps: {
      temp: { p: 'sensor', dev_cla: 'temperature', unit_of_meas: '°C', val_tpl: '{{ value_json.t }}', uniq_id: 'a' },
      pump: { p: 'switch', cmd_t: '~/pump/set', val_tpl: '{{ value_json.pump }}', uniq_id: 'b' },
      gone: { p: 'sensor' },
    },
    qos: 2,
  });
  t.deepEqual(device.ids, ['0AFFD2/pump', '0AFFD2/temp']);
  const { topic, device: its } = device.get('0AFFD2/temp');
  t.is(topic, 'plant/state');
  t.is(its!.mode, 'all');
  t.deepEqual(
    its!.availability.map((one) => one.topic),
    ['plant/there', 'bridge/state'],
  );
  t.is(its!.availability[0]!.read(new Payload(Buffer.from('{"state":"offline"}'))), false);
  t.is(device.get('0AFFD2/pump').device!.name, its!.name);
  t.deepEqual(device.write('0AFFD2/pump', true), ['plant/pump/set', 'ON']);
});

test('Zigbee2MQTT: exposes of each type', (t) => {
  const exposes = [
    {
      type: 'switch',
      endpoint: 'left',
      features: [
        {
          type: 'binary',
          name: 'state',
          property: 'state_left',
          label: 'State',
          access: 7,
          value_on: 'ON',
          value_off: 'OFF',
        },
      ],
    },
    {
      type: 'cover',
      features: [
        {
          type: 'numeric',
          name: 'position',
          property: 'position',
          label: 'Position',
          access: 7,
          value_min: 0,
          value_max: 100,
          unit: '%',
        },
      ],
    },
    {
      type: 'climate',
      features: [
        {
          type: 'numeric',
          name: 'occupied_heating_setpoint',
          property: 'occupied_heating_setpoint',
          label: 'Occupied heating setpoint',
          access: 7,
          value_min: 5,
          value_max: 30,
          value_step: 0.5,
          unit: '°C',
        },
      ],
    },
    {
      type: 'enum',
      name: 'action',
      property: 'action',
      label: 'Action',
      access: 1,
      category: 'diagnostic',
      values: ['single', 'double', 'recall_*'],
    },
    { type: 'enum', name: 'count', property: 'count', label: 'Count', access: 7, values: [1, 2] },
    {
      type: 'composite',
      name: 'schedule',
      property: 'schedule',
      label: 'Schedule',
      access: 2,
      features: [{ type: 'text', name: 'day', property: 'day', label: 'Day', access: 2 }],
    },
  ];
  const devices = zigbeeDevices(
    [
      { ieee_address: '0x01', friendly_name: 'wall', type: 'EndDevice', definition: { exposes } },
      { ieee_address: '0x02', friendly_name: 'off', disabled: true, definition: { exposes } },
      { ieee_address: '0x03', friendly_name: 'new', definition: null },
    ],
    'zigbee2mqtt',
  );
  t.deepEqual([...devices.keys()], ['0x01', '0x03']);
  const found = new Described(devices.get('0x01')!.describe().bindings);
  t.deepEqual(found.write('0x01/state_left', true), ['zigbee2mqtt/wall/set', '{"state_left":"ON"}']);
  t.like(found.get('0x01/occupied_heating_setpoint').about, { min: 5, max: 30, step: 0.5, unit: '°C' });
  t.is(found.read('0x01/action/single', { action: 'single' }), 1);
  t.is(found.read('0x01/action/double', { action: 'single' }), undefined);
  t.false(found.ids.includes('0x01/action/recall_*'));
  t.deepEqual(found.write('0x01/count', '2'), ['zigbee2mqtt/wall/set', '{"count":2}']);
  t.deepEqual(found.write('0x01/schedule/day', 'monday'), ['zigbee2mqtt/wall/set', '{"schedule":{"day":"monday"}}']);
});

const tasmota = (config: object, sensors?: object) => {
  const { bindings, refused } = tasmotaDevice(
    '00AA',
    {
      ip: '10.0.0.1',
      dn: 'Dev',
      fn: [null],
      hn: 'dev',
      mac: '00AA',
      md: 'Generic',
      ty: 0,
      if: 0,
      ofln: 'Offline',
      onln: 'Online',
      state: ['OFF', 'ON', 'TOGGLE', 'HOLD'],
      sw: '14.0.0',
      t: 'dev',
      ft: '%prefix%/%topic%/',
      tp: ['cmnd', 'stat', 'tele'],
      rl: [0, 0, 0, 0],
      swc: [-1, -1],
      swn: [null, null],
      btn: [0, 0],
      so: { '4': 0, '68': 0, '82': 0 },
      lk: 1,
      lt_st: 0,
      bat: 0,
      dslp: 0,
      sho: [],
      sht: [],
      ver: 1,
      ...config,
    },
    sensors && { sn: sensors, ver: 1 },
  );
  return new Described(bindings, refused);
};

test('Tasmota: relays beside shutters, lights, fans, switches and buttons', (t) => {
  const shutters = tasmota({ rl: [3, 3, 1, 0], fn: ['A', 'B', 'Pump', null], sho: [1] });
  t.deepEqual(shutters.write('00AA/power3', true), ['cmnd/dev/POWER3', 'ON']);
  t.is(shutters.read('00AA/shutter1/position', { Shutter1: { Position: 30, Direction: 0 } }), 70);
  t.deepEqual(shutters.write('00AA/shutter1/position', 70), ['cmnd/dev/ShutterPosition1', '30']);
  const one = tasmota({ rl: [1], so: { '4': 1 } });
  t.is(one.read('00AA/power', { POWER1: 'ON' }), true);
  t.deepEqual(one.get('00AA/power').moreTopics, ['stat/dev/POWER', 'stat/dev/POWER1', 'tele/dev/STATE']);
  const light = tasmota({ rl: [2], lt_st: 5, so: { '82': 1 } });
  t.like(light.get('00AA/ct').about, { unit: 'mired', min: 200, max: 380 });
  t.deepEqual(light.write('00AA/dimmer', 40), ['cmnd/dev/Dimmer', '40']);
  t.is(light.read('00AA/color', { POWER: 'ON', Color: 'FF000000' }), 'FF000000');
  const fan = tasmota({ if: 1, rl: [2, 0, 0, 0] });
  t.like(fan.get('00AA/fanspeed').about, { min: 0, max: 3 });
  const inputs = tasmota({ swc: [1, -1], swn: ['Door', null], btn: [1, 0] });
  t.is(inputs.read('00AA/switch1', { Door: { Action: 'ON' } }), true);
  t.is(inputs.read('00AA/switch1', { Time: 'x', Door: 'OFF' }), false);
  t.is(inputs.read('00AA/button1/double', { Button1: { Action: 'DOUBLE' } }), 1);
  t.is(inputs.read('00AA/button1/single', { Button1: { Action: 'DOUBLE' } }), undefined);
  t.deepEqual(tasmota({ dslp: 1, rl: [1] }).get('00AA/power').device!.availability, []);
});

test('Tasmota: sensors that are lists, nested, text, with the units of the device', (t) => {
  const found = tasmota(
    {},
    {
      Time: '2026-01-01T00:00:00',
      ENERGY: {
        TotalStartTime: '2018-11-23T15:33:47',
        Total: 0.017,
        Power: [1, 2],
        Factor: 0.39,
        Frequency: 50,
        ReactivePower: -7,
      },
      TX23: { Speed: { Act: 14.8, Avg: 8.5 }, Dir: { Card: 'WSW', Deg: 247.5 } },
      BME280: { Temperature: 70, Pressure: 750, DewPoint: 50 },
      TempUnit: 'F',
      PressureUnit: 'mmHg',
      SpeedUnit: 'km/h',
      Switch1: 'ON',
    },
  );
  t.like(found.get('00AA/ENERGY/Power/1'), { type: 'F', about: { unit: 'W' } });
  t.is(found.read('00AA/ENERGY/Power/1', { ENERGY: { Power: [1, 2] } }), 2);
  t.like(found.get('00AA/ENERGY/Total').about, { unit: 'kWh' });
  t.is(found.get('00AA/ENERGY/Factor').about!.unit, undefined);
  t.like(found.get('00AA/TX23/Speed/Act').about, { unit: 'km/h' });
  t.is(found.get('00AA/TX23/Dir/Card').type, 'S');
  t.like(found.get('00AA/BME280/Temperature').about, { unit: '°F' });
  t.like(found.get('00AA/BME280/Pressure').about, { unit: 'mmHg' });
  t.false(found.ids.some((one) => /Unit|Time$|Switch1/.test(one) && !one.includes('TotalStartTime')));
});

test('Shelly: the status of a component, with a prefix of the user, and the topics of the first generation', (t) => {
  const at = (topic: string, payload: unknown) =>
    new Described(
      shellyDevice(topic, new Payload(Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload))))
        ?.bindings ?? [],
    );
  const cover = at('kitchen/status/cover:0', { id: 0, source: 'init', state: 'open', current_pos: 80, apower: 0 });
  t.deepEqual(cover.write('kitchen/cover/0/position', 40), ['kitchen/command/cover:0', 'pos,40']);
  t.deepEqual(cover.write('kitchen/cover/0/stop', 1), ['kitchen/command/cover:0', 'stop']);
  const light = at('x/status/light:1', { id: 1, output: true, brightness: 50 });
  t.deepEqual(light.write('x/light/1/brightness', 20), ['x/command/light:1', 'set,true,20']);
  t.deepEqual(at('x/status/switch:0', { id: 1, output: true }).ids, [], 'its number is another one');
  t.deepEqual(at('x/status/toString:0', { id: 0 }).ids, []);
  const roller = at('shellies/shellyswitch25-1/roller/0/pos', '40');
  t.deepEqual(roller.write('shellyswitch25-1/roller/0/pos', 60), [
    'shellies/shellyswitch25-1/roller/0/command/pos',
    '60',
  ]);
  t.deepEqual(at('shellies/shellyswitch25-1/roller/0', 'stop').write('shellyswitch25-1/roller/0', 'open'), [
    'shellies/shellyswitch25-1/roller/0/command',
    'open',
  ]);
  t.like(at('shellies/shellyem-1/emeter/0/total', '1').get('shellyem-1/emeter/0/total').about, { unit: 'Wh' });
});
