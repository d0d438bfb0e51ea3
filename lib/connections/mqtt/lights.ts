// Adds the parameters for lights in Home Assistant's MQTT discovery, in all three schemas.

import { choicesOf, colors, describeColor, numbersOfColor } from '../../device/home-assistant.ts';
import type { Payload } from '../../device/payload.ts';
import type { About } from '../../model/parameter.ts';
import type { Value } from '../../model/value.ts';
import { type Entity, keysOf } from './documents.ts';

function namedColor(name: string) {
  const { names } = colors[name]!;
  const named = (value: Value) => {
    const numbers = numbersOfColor(value, name);
    return Object.fromEntries(names.map((one, place) => [one, numbers[place]]));
  };
  return { names, named };
}

/** Returns the metadata for the colour temperature of a light, in mireds or kelvins. */
function temperatureOf(entity: Entity): About {
  return entity.document.color_temp_kelvin === true
    ? { unit: 'K', min: entity.number('min_kelvin') ?? 2000, max: entity.number('max_kelvin') ?? 6535 }
    : { unit: 'mired', min: entity.number('min_mireds') ?? 153, max: entity.number('max_mireds') ?? 500 };
}

/** Adds the parameters for a light in any of the three schemas: state, brightness, colour temperature, effect and colours. */
export function describeLight(entity: Entity): void {
  const brightness = { min: 0, max: entity.number('brightness_scale') ?? 255 };
  const effects = choicesOf(entity.list('effect_list'));
  switch (entity.text('schema') ?? 'basic') {
    case 'json':
      addJsonLight(entity, brightness, effects);
      return;
    case 'template':
      addTemplateLight(entity, effects);
      return;
    case 'basic':
    case 'default':
      break;
    default:
      entity.refuse(`unknown schema "${entity.text('schema')}" of a light`);
      return;
  }
  const template = entity.text('state_value_template') === undefined ? 'value_template' : 'state_value_template';
  entity.add({
    type: 'B',
    name: 'state',
    state: 'state_topic',
    template,
    command: 'command_topic',
    words: entity.words,
  });
  entity.add({
    type: 'F',
    name: 'brightness',
    ...keysOf('brightness', 'brightness_value_template'),
    about: brightness,
  });
  entity.add({
    type: 'F',
    name: 'color-temp',
    ...keysOf('color_temp', 'color_temp_value_template'),
    about: temperatureOf(entity),
  });
  entity.add({ type: 'S', name: 'effect', ...keysOf('effect', 'effect_value_template'), about: effects });
  for (const name of Object.keys(colors))
    entity.add({
      type: 'S',
      name,
      ...keysOf(name, `${name}_value_template`),
      ...namedColor(name),
      send: (value) => numbersOfColor(value, name).join(','),
      about: describeColor(name),
    });
}

function addJsonLight(entity: Entity, brightness: About, effects: About): void {
  const { document } = entity;
  const modes = entity.list('supported_color_modes');
  const json = { state: 'state_topic', command: 'command_topic' };
  const part = (key: string) => ({
    ...json,
    read: (payload: Payload) => payload.at([key]),
    send: (value: Value) => JSON.stringify({ state: 'ON', [key]: value }),
  });
  entity.add({
    type: 'B',
    name: 'state',
    ...json,
    read: (payload) => payload.at(['state']),
    words: { on: 'ON', off: 'OFF' },
    send: (_, word) => JSON.stringify({ state: word }),
  });
  if (document.brightness === true || modes.some((mode) => mode !== 'onoff'))
    entity.add({ type: 'F', name: 'brightness', ...part('brightness'), about: brightness });
  if (document.color_temp === true || modes.includes('color_temp'))
    entity.add({ type: 'F', name: 'color-temp', ...part('color_temp'), about: temperatureOf(entity) });
  if (document.effect === true) entity.add({ type: 'S', name: 'effect', ...part('effect'), about: effects });
  for (const [name, { keys }] of Object.entries(colors))
    if (document[name] === true || modes.includes(name))
      entity.add({
        type: 'S',
        name,
        ...json,
        read(payload) {
          const numbers = keys.map((key) => payload.at(['color', key]));
          return numbers.every((number) => typeof number === 'number') ? numbers.join(',') : undefined;
        },
        send(value) {
          const numbers = numbersOfColor(value, name);
          const color = Object.fromEntries(keys.map((key, place) => [key, numbers[place]]));
          return JSON.stringify({ state: 'ON', color });
        },
        about: describeColor(name),
      });
}

/**
 * Adds the parameters for a light with the template schema. Each command sets only one parameter, because the template receives
 * `brightness` only in commands that set the brightness.
 */
function addTemplateLight(entity: Entity, effects: About): void {
  const names = [
    'state',
    'brightness',
    'color_temp',
    'red',
    'green',
    'blue',
    'hue',
    'sat',
    'effect',
    'flash',
    'transition',
  ];
  const part = (name: string, template: string) => ({
    name,
    state: 'state_topic',
    template,
    command: 'command_topic',
    commandTemplate: 'command_on_template',
    names,
    named: (value: Value) => ({ state: 'on', [name.replace('-', '_')]: value }),
  });
  if (entity.text('command_on_template') === undefined || entity.text('command_off_template') === undefined) {
    entity.refuse('a light with the schema "template" needs command_on_template and command_off_template');
    return;
  }
  entity.addSwitched({
    ...part('state', 'state_template'),
    type: 'B',
    words: { on: 'on', off: 'off' },
    offTemplate: 'command_off_template',
    named: (value) => ({ state: value === true ? 'on' : 'off' }),
  });
  if (entity.text('brightness_template') !== undefined)
    entity.add({ type: 'F', ...part('brightness', 'brightness_template'), about: { min: 0, max: 255 } });
  if (entity.text('color_temp_template') !== undefined)
    entity.add({ type: 'F', ...part('color-temp', 'color_temp_template'), about: temperatureOf(entity) });
  if (entity.text('effect_template') !== undefined)
    entity.add({ type: 'S', ...part('effect', 'effect_template'), about: effects });
}
