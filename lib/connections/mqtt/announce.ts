// Creates Home Assistant discovery documents for the parameters that a bridge publishes. Each parameter becomes an entity, and each
// connection becomes a device.

import { createHash } from 'node:crypto';
import { connectionIdOf } from '../../model/address.ts';
import type { Parameter } from '../../model/parameter.ts';
import { toText } from '../../model/value.ts';

export interface Announced {
  readonly topic: string;
  /** The Home Assistant discovery document as JSON. */
  readonly text: string;
}

export interface AnnounceOptions {
  /** The prefix of the topics that the bridge publishes. */
  readonly prefix: string;
  /** The topic prefix for Home Assistant's discovery. */
  readonly discovery: string;
  /** The topic that contains the parameter's value. */
  readonly topic: string;
  readonly status: string;
  /** Whether MQTT clients may write the parameter. */
  readonly isAccepted: boolean;
  readonly version: string;
}

/** The maximum length of a text value in Home Assistant, in characters. Home Assistant would show a longer value as unknown. */
const maxTextLength = 255;
const shortened = { value_template: `{{ value[:${maxTextLength}] }}` };
/** The bounds for numbers whose parameters have no bounds. If a document contained no bounds, Home Assistant would allow 1 to 100. */
const widestNumber = 1e9;

/** Returns the node ID that all of a bridge's entities share. */
export function nodeOf(prefix: string): string {
  return `patchbay_${slugOf(prefix)}`;
}

/** Returns the discovery document for a parameter and the topic to which the document is published. */
export function announce(parameter: Parameter, options: AnnounceOptions): Announced {
  const { address, about = {} } = parameter;
  const { prefix, discovery, status, version } = options;
  const connectionId = connectionIdOf(address);
  const node = nodeOf(prefix);
  const object = slugOf(address);
  const { component, ...entity } = entityOf(parameter, options);
  const document = {
    name: about.label ?? address.slice(connectionId.length + 1),
    unique_id: `${node}_${object}`,
    ...entity,
    availability_topic: status,
    device: { identifiers: [`${node}_${connectionId}`], name: connectionId, manufacturer: 'Patchbay' },
    origin: { name: 'Patchbay', sw_version: version },
  };
  return { topic: `${discovery}/${component}/${node}/${object}/config`, text: JSON.stringify(document) };
}

interface Entity {
  readonly component: string;
  readonly [key: string]: unknown;
}

function entityOf({ type, access, about = {} }: Parameter, { topic, isAccepted }: AnnounceOptions): Entity {
  const isWritable = access !== 'read-only' && isAccepted;
  const command = { command_topic: `${topic}/set` };
  const state = { state_topic: topic };
  const both = { ...command, ...(access === 'write-only' ? { ...state, optimistic: true } : state) };
  const { unit, choices, min = -widestNumber, max = widestNumber } = about;
  const unitOf = unit === undefined ? {} : { unit_of_measurement: unit };
  if (type === 'T')
    return isWritable
      ? { component: 'button', ...command, payload_press: '1' }
      : { component: 'event', ...state, event_types: ['fired'], value_template: '{"event_type": "fired"}' };
  if (type === 'B') {
    const words = { payload_on: 'true', payload_off: 'false' };
    return isWritable
      ? { component: 'switch', ...both, ...words, state_on: 'true', state_off: 'false' }
      : { component: 'binary_sensor', ...state, ...words };
  }
  const names = Object.keys(choices ?? {});
  if (choices !== undefined && names.length > 0) {
    const texts = Object.entries(choices).map(([name, value]) => [toText(value), name] as const);
    const templates = {
      value_template: `{% set names = ${mapOf(texts)} %}{{ names.get(value, value) }}`,
      ...(isWritable && {
        command_template: `{% set values = ${mapOf(texts.map(([text, name]) => [name, text]))} %}{{ values.get(value, value) }}`,
      }),
    };
    return isWritable
      ? { component: 'select', ...both, options: names, ...templates }
      : { component: 'sensor', ...state, device_class: 'enum', options: names, ...templates };
  }
  if (type === 'S')
    return isWritable
      ? { component: 'text', ...both, ...shortened, max: maxTextLength }
      : { component: 'sensor', ...state, ...shortened };
  if (!isWritable) return { component: 'sensor', ...state, ...unitOf, state_class: 'measurement' };
  const step = Math.max(0.001, about.step ?? (type === 'I' ? 1 : 0.001));
  return {
    component: 'number',
    ...both,
    ...unitOf,
    min,
    max: max > min ? max : min + step,
    step,
    mode: about.max === undefined || about.min === undefined ? 'box' : 'auto',
  };
}

/** Returns a map literal for a Jinja template. Characters that could end a part of the template are escaped. */
function mapOf(entries: readonly (readonly [key: string, text: string])[]): string {
  const quote = (text: string) =>
    JSON.stringify(text).replace(/[{}%#]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  return `{${[...new Map(entries)].map(([key, text]) => `${quote(key)}: ${quote(text)}`).join(', ')}}`;
}

/** Converts a string to a form that is valid in topics and IDs. Different strings are converted to different forms. */
function slugOf(text: string): string {
  const plain = text.replace(/\//g, '_').replace(/[^A-Za-z0-9_-]/g, '-');
  const isPlain = /^[A-Za-z0-9/-]*$/.test(text);
  return isPlain ? plain : `${plain}_${createHash('sha256').update(text).digest('hex').slice(0, 8)}`;
}
