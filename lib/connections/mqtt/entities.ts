// Creates the parameters for each kind of entity in Home Assistant's MQTT discovery. The keys, defaults and payloads follow the
// documentation of each kind.

import {
  choicesOf,
  domainsWithoutValue,
  fanDirections,
  isNumberSensor,
  maxEventTypes,
  openStates,
} from '../../device/home-assistant.ts';
import type { Payload } from '../../device/payload.ts';
import type { About } from '../../model/parameter.ts';
import type { Binding } from './bindings.ts';
import { type DocumentPlace, deviceKeyOf, Entity, type Json, keysOf } from './documents.ts';
import { describeLight } from './lights.ts';

/** The parameters that a discovery document describes. */
export interface Described {
  readonly bindings: readonly Binding[];
  /** The reasons why parts of the document were omitted. */
  readonly refused: readonly string[];
}

/** Returns the parameters of an entity, given its place and its document. */
export function describeEntity({ component, node, object }: DocumentPlace, document: Json): Described {
  const entity = new Entity(
    document,
    node ?? object,
    node === undefined && deviceKeyOf(document) === undefined ? component : object,
  );
  if (domainsWithoutValue.has(component)) entity.refuse(`a ${component} has no value that a parameter could hold`);
  else if (Object.hasOwn(describers, component)) describers[component]!(entity);
  else entity.refuse(`unknown component ${component}`);
  if (entity.bindings.length === 0 && entity.refused.length === 0) entity.refuse(`the ${component} has no topic`);
  return { bindings: entity.bindings, refused: entity.refused };
}

function defined(about: About): About {
  return Object.fromEntries(Object.entries(about).filter(([, value]) => value !== undefined));
}

const state = { state: 'state_topic', template: 'value_template' } as const;
const command = { command: 'command_topic', commandTemplate: 'command_template' } as const;
const both = { ...state, ...command } as const;
const templatedState = { ...both, template: 'state_value_template' } as const;

/** Reads the type of an event from a payload, such as `{"event_type": "press"}`. */
function eventTypeIn(payload: Payload): unknown {
  return payload.at(['event_type']);
}

/** Adds a trigger for each command that the document does not disable. */
function addCommands(entity: Entity, commands: Readonly<Record<string, readonly [key: string, usual: string]>>): void {
  for (const [name, [key, usual]] of Object.entries(commands))
    if (entity.document[key] !== null)
      entity.add({ type: 'T', name, command: 'command_topic', words: { on: entity.text(key) ?? usual } });
}

/** Adds the state of a cover or valve. The parameter's values are the same for all devices, whatever words the devices use. */
function addState(entity: Entity): void {
  entity.add({
    type: 'S',
    name: 'state',
    ...state,
    values: Object.fromEntries(openStates.map((one) => [entity.text(`state_${one}`) ?? one, one])),
    about: choicesOf(openStates),
  });
}

const openAndClose = {
  open: ['payload_open', 'OPEN'],
  close: ['payload_close', 'CLOSE'],
  stop: ['payload_stop', 'STOP'],
} as const;

/** Returns the range of positions, given the keys for the closed and the open position. The closed position may have the greater number. */
function rangeOf(entity: Entity, low: string, high: string): About {
  const [from, to] = [entity.number(low) ?? 0, entity.number(high) ?? 100];
  const [min, max] = [Math.min(from, to), Math.max(from, to)];
  return { min, max, ...(min === 0 && max === 100 && { unit: '%' }) };
}

function unitOf(entity: Entity): string {
  return entity.text('temperature_unit') === 'F' ? '°F' : '°C';
}

/** Adds the target temperatures and the current temperature of a climate device or water heater. */
function addTemperatures(entity: Entity, names: readonly string[], [usualMin, usualMax]: readonly number[]): void {
  const unit = unitOf(entity);
  const about = {
    unit,
    min: entity.number('min_temp') ?? usualMin!,
    max: entity.number('max_temp') ?? usualMax!,
    step: entity.number('temp_step') ?? 1,
  };
  for (const name of names) entity.add({ type: 'F', name: name.replaceAll('_', '-'), ...keysOf(name), about });
  entity.add({
    type: 'F',
    name: 'current-temperature',
    state: 'current_temperature_topic',
    template: 'current_temperature_template',
    about: { unit },
  });
}

/** Adds the power switch of a climate device or water heater. */
function addPower(entity: Entity): void {
  entity.add({
    type: 'B',
    name: 'power',
    command: 'power_command_topic',
    commandTemplate: 'power_command_template',
    words: entity.words,
  });
}

function addHumidity(entity: Entity, usualMin: number): void {
  entity.add({
    type: 'F',
    name: 'target-humidity',
    ...keysOf('target_humidity'),
    about: { unit: '%', min: entity.number('min_humidity') ?? usualMin, max: entity.number('max_humidity') ?? 100 },
  });
  entity.add({
    type: 'F',
    name: 'current-humidity',
    state: 'current_humidity_topic',
    template: 'current_humidity_template',
    about: { unit: '%' },
  });
}

function addAction(entity: Entity): void {
  entity.add({ type: 'S', name: 'action', state: 'action_topic', template: 'action_template' });
}

/** The functions that add the parameters of an entity, keyed by kind of entity. */
const describers: Readonly<Record<string, (entity: Entity) => void>> = {
  binary_sensor: (entity) => entity.add({ type: 'B', ...state, words: entity.words }),
  sensor(entity) {
    const unit = entity.text('unit_of_measurement');
    const isNumber = isNumberSensor({
      unit,
      deviceClass: entity.text('device_class'),
      stateClass: entity.text('state_class'),
      precision: entity.number('suggested_display_precision'),
    });
    entity.add({
      type: isNumber ? 'F' : 'S',
      ...state,
      about: defined({ unit, ...choicesOf(entity.list('options')) }),
    });
  },
  switch: (entity) =>
    entity.add({
      type: 'B',
      ...both,
      words: { on: entity.text('state_on') ?? entity.words.on, off: entity.text('state_off') ?? entity.words.off },
      commands: entity.words,
    }),
  number: (entity) =>
    entity.add({
      type: 'F',
      ...both,
      values: { [entity.text('payload_reset') ?? 'None']: 'None' },
      about: defined({
        unit: entity.text('unit_of_measurement'),
        min: entity.number('min') ?? 1,
        max: entity.number('max') ?? 100,
        step: entity.number('step') ?? 1,
      }),
    }),
  select: (entity) => entity.add({ type: 'S', ...both, about: choicesOf(entity.list('options')) }),
  text: (entity) => entity.add({ type: 'S', ...both }),
  date: (entity) => entity.add({ type: 'S', ...both }),
  time: (entity) => entity.add({ type: 'S', ...both }),
  datetime: (entity) => entity.add({ type: 'S', ...both }),
  notify: (entity) => entity.add({ type: 'S', ...command }),
  button: (entity) => entity.add({ type: 'T', ...command, words: { on: entity.text('payload_press') ?? 'PRESS' } }),
  scene: (entity) =>
    entity.add({ type: 'T', command: 'command_topic', words: { on: entity.text('payload_on') ?? 'ON' } }),
  /**
   * Adds a parameter for the type of the last event, and a trigger for each type. Triggers are necessary because the value does not change
   * if the same event occurs twice.
   */
  event(entity) {
    const types = entity.list('event_types');
    const part = { ...state, read: eventTypeIn } as const;
    entity.add({ type: 'S', ...part, about: { ...choicesOf(types), class: 'event' } });
    for (const one of types.slice(0, maxEventTypes)) entity.add({ type: 'T', name: one, ...part, words: { on: one } });
  },
  /** Adds a trigger for a button on a device: `{"automation_type": "trigger", "topic": …, "payload": "single"}`. */
  device_automation(entity) {
    if (entity.text('automation_type') !== 'trigger') {
      entity.refuse('a device_automation must be a trigger');
      return;
    }
    const payload = entity.text('payload');
    entity.add({
      type: 'T',
      state: 'topic',
      template: 'value_template',
      words: payload === undefined ? {} : { on: payload },
      about: defined({
        label:
          [entity.label, entity.text('subtype'), entity.text('type')].filter((one) => one !== undefined).join(' ') ||
          undefined,
      }),
    });
  },
  device_tracker: (entity) => {
    const [home, away] = [entity.text('payload_home') ?? 'home', entity.text('payload_not_home') ?? 'not_home'];
    entity.add({ type: 'S', ...state, values: { [home]: 'home', [away]: 'not_home' } });
  },
  update(entity) {
    const version = (key: string, isPlain: boolean) => (payload: Payload) =>
      payload.at([key]) ?? (isPlain && !payload.text.startsWith('{') ? payload.text : undefined);
    entity.add({ type: 'S', name: 'installed-version', ...state, read: version('installed_version', true) });
    const isApart = entity.text('latest_version_topic') !== undefined;
    entity.add({
      type: 'S',
      name: 'latest-version',
      ...(isApart
        ? { state: 'latest_version_topic', template: 'latest_version_template' }
        : { ...state, read: version('latest_version', false) }),
    });
    if (entity.text('payload_install') !== undefined)
      entity.add({
        type: 'T',
        name: 'install',
        command: 'command_topic',
        words: { on: entity.text('payload_install') },
      });
  },
  siren(entity) {
    const { on, off } = entity.words;
    const words = { on: entity.text('state_on') ?? on, off: entity.text('state_off') ?? off };
    entity.addSwitched({
      type: 'B',
      ...templatedState,
      read: (payload) => payload.at(['state']) ?? payload.text,
      words,
      commands: entity.words,
      names: ['state', 'tone', 'volume_level', 'duration'],
      named: (_, word) => ({ state: word }),
      send: (_, word) => JSON.stringify({ state: word }),
      offTemplate: 'command_off_template',
    });
  },
  lock(entity) {
    entity.add({
      type: 'B',
      ...both,
      words: { on: entity.text('state_locked') ?? 'LOCKED', off: entity.text('state_unlocked') ?? 'UNLOCKED' },
      commands: { on: entity.text('payload_lock') ?? 'LOCK', off: entity.text('payload_unlock') ?? 'UNLOCK' },
      ignored: [
        entity.text('state_locking') ?? 'LOCKING',
        entity.text('state_unlocking') ?? 'UNLOCKING',
        entity.text('state_jammed') ?? 'JAMMED',
      ],
    });
    if (entity.text('payload_open') !== undefined)
      entity.add({ type: 'T', name: 'open', command: 'command_topic', words: { on: entity.text('payload_open') } });
  },
  fan(entity) {
    const [low, high] = [entity.number('speed_range_min') ?? 1, entity.number('speed_range_max') ?? 100];
    entity.add({ type: 'B', ...templatedState, words: entity.words });
    entity.add({
      type: 'F',
      name: 'percentage',
      ...keysOf('percentage', 'percentage_value_template'),
      values: { [entity.text('payload_reset_percentage') ?? 'None']: 'None' },
      about: low === 1 && high === 100 ? { unit: '%', min: 0, max: 100 } : { min: 0, max: high, step: 1 },
    });
    entity.add({
      type: 'S',
      name: 'preset-mode',
      ...keysOf('preset_mode', 'preset_mode_value_template'),
      about: choicesOf(entity.list('preset_modes')),
    });
    entity.add({
      type: 'B',
      name: 'oscillation',
      ...keysOf('oscillation', 'oscillation_value_template'),
      words: {
        on: entity.text('payload_oscillation_on') ?? 'oscillate_on',
        off: entity.text('payload_oscillation_off') ?? 'oscillate_off',
      },
    });
    entity.add({
      type: 'S',
      name: 'direction',
      ...keysOf('direction', 'direction_value_template'),
      about: choicesOf(fanDirections),
    });
  },
  cover(entity) {
    addState(entity);
    const about = rangeOf(entity, 'position_closed', 'position_open');
    const limits = {
      position_open: entity.number('position_open') ?? 100,
      position_closed: entity.number('position_closed') ?? 0,
    };
    entity.add({
      type: 'F',
      name: 'position',
      state: 'position_topic',
      template: 'position_template',
      command: 'set_position_topic',
      commandTemplate: 'set_position_template',
      names: ['position', ...Object.keys(limits)],
      named: (position) => ({ position, ...limits }),
      about,
    });
    const tilt = rangeOf(entity, 'tilt_min', 'tilt_max');
    entity.add({
      type: 'F',
      name: 'tilt',
      state: 'tilt_status_topic',
      template: 'tilt_status_template',
      command: 'tilt_command_topic',
      commandTemplate: 'tilt_command_template',
      names: ['tilt_position', 'tilt_min', 'tilt_max', ...Object.keys(limits)],
      named: (position) => ({ tilt_position: position, tilt_min: tilt.min, tilt_max: tilt.max, ...limits }),
      about: tilt,
    });
    addCommands(entity, openAndClose);
  },
  valve(entity) {
    if (entity.document.reports_position !== true) {
      addState(entity);
      addCommands(entity, openAndClose);
      return;
    }
    entity.add({
      type: 'F',
      name: 'position',
      ...both,
      read: (payload) => payload.at(['position']) ?? (payload.text.startsWith('{') ? undefined : payload.text),
      about: rangeOf(entity, 'position_closed', 'position_open'),
    });
    if (entity.text('payload_stop') !== undefined)
      entity.add({ type: 'T', name: 'stop', command: 'command_topic', words: { on: entity.text('payload_stop') } });
  },
  climate(entity) {
    const list = (key: string, usual: readonly string[]) =>
      choicesOf(entity.list(key).length > 0 ? entity.list(key) : usual);
    entity.add({
      type: 'S',
      name: 'mode',
      ...keysOf('mode'),
      about: list('modes', ['auto', 'off', 'cool', 'heat', 'dry', 'fan_only']),
    });
    const usual = unitOf(entity) === '°F' ? [44.6, 95] : [7, 35];
    addTemperatures(entity, ['temperature', 'temperature_low', 'temperature_high'], usual);
    addHumidity(entity, 30);
    addAction(entity);
    entity.add({
      type: 'S',
      name: 'fan-mode',
      ...keysOf('fan_mode'),
      about: list('fan_modes', ['auto', 'low', 'medium', 'high']),
    });
    entity.add({ type: 'S', name: 'swing-mode', ...keysOf('swing_mode'), about: list('swing_modes', ['on', 'off']) });
    entity.add({
      type: 'S',
      name: 'preset-mode',
      ...keysOf('preset_mode', 'preset_mode_value_template'),
      about: choicesOf(['none', ...entity.list('preset_modes')]),
    });
    addPower(entity);
  },
  water_heater(entity) {
    const modes = entity.list('modes');
    const usual = ['off', 'eco', 'electric', 'gas', 'heat_pump', 'high_demand', 'performance'];
    entity.add({ type: 'S', name: 'mode', ...keysOf('mode'), about: choicesOf(modes.length > 0 ? modes : usual) });
    addTemperatures(entity, ['temperature'], unitOf(entity) === '°F' ? [110, 140] : [43.3, 60]);
    addPower(entity);
  },
  humidifier(entity) {
    entity.add({ type: 'B', ...templatedState, words: entity.words });
    addHumidity(entity, 0);
    addAction(entity);
    entity.add({ type: 'S', name: 'mode', ...keysOf('mode'), about: choicesOf(entity.list('modes')) });
  },
  alarm_control_panel(entity) {
    entity.add({ type: 'S', name: 'state', ...state });
    entity.refuse('the commands of an alarm_control_panel are left out, because they may need a code');
  },
  vacuum(entity) {
    entity.add({ type: 'S', name: 'state', state: 'state_topic', read: (payload) => payload.at(['state']) });
    addCommands(entity, {
      start: ['payload_start', 'start'],
      pause: ['payload_pause', 'pause'],
      stop: ['payload_stop', 'stop'],
      'return-to-base': ['payload_return_to_base', 'return_to_base'],
    });
  },
  lawn_mower(entity) {
    entity.add({ type: 'S', name: 'activity', state: 'activity_state_topic', template: 'activity_value_template' });
    for (const [name, key] of [
      ['start', 'start_mowing'],
      ['pause', 'pause'],
      ['dock', 'dock'],
    ] as const)
      entity.add({
        type: 'T',
        name,
        command: `${key}_command_topic`,
        commandTemplate: `${key}_command_template`,
        words: { on: key },
      });
  },
  light: describeLight,
};
