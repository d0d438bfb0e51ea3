// Facts about Home Assistant entities, no matter whether they are announced through a broker or reported by Home Assistant itself: the
// domains, their fixed words, and colours. A colour is a string of numbers with commas: `255,0,127`.

import { HubError } from '../model/error.ts';
import type { About } from '../model/parameter.ts';
import { toText, type Value } from '../model/value.ts';

/** The domains without a value, or with a value that no parameter can hold. */
export const domainsWithoutValue: ReadonlySet<string> = new Set(['camera', 'image', 'infrared', 'remote', 'tag']);
/** The maximum number of event types per entity that become triggers. */
export const maxEventTypes = 100;
/** The states of a cover or valve. */
export const openStates = ['open', 'opening', 'closed', 'closing', 'stopped'] as const;
/** The states in which a lock is neither locked nor unlocked. */
export const lockTransitions = ['locking', 'unlocking', 'opening', 'open', 'jammed'] as const;
export const fanDirections = ['forward', 'reverse'] as const;

/** The device classes of sensors with values other than numbers. */
const textClasses: ReadonlySet<string> = new Set(['date', 'enum', 'timestamp', 'uptime']);

/** What an entity of the domain `sensor` reports about its value. */
export interface SensorTraits {
  readonly unit: string | undefined;
  readonly deviceClass: string | undefined;
  readonly stateClass: string | undefined;
  readonly precision?: number | undefined;
}

/** Returns whether a sensor's value is a number. */
export function isNumberSensor({ unit, deviceClass, stateClass, precision }: SensorTraits): boolean {
  return deviceClass === undefined
    ? unit !== undefined || stateClass !== undefined || precision !== undefined
    : !textClasses.has(deviceClass);
}

/** Returns metadata in which the words are the choices. */
export function choicesOf(words: readonly string[]): About {
  return words.length === 0 ? {} : { choices: Object.fromEntries(words.map((word) => [word, word])) };
}

interface Color {
  /** The names of the numbers, as used in command templates and in JSON. */
  readonly names: readonly string[];
  readonly keys: readonly string[];
  readonly max: readonly number[];
}

/** The colour models, keyed by name. */
export const colors: Readonly<Record<string, Color>> = {
  rgb: { names: ['red', 'green', 'blue'], keys: ['r', 'g', 'b'], max: [255, 255, 255] },
  rgbw: { names: ['red', 'green', 'blue', 'white'], keys: ['r', 'g', 'b', 'w'], max: [255, 255, 255, 255] },
  rgbww: {
    names: ['red', 'green', 'blue', 'cold_white', 'warm_white'],
    keys: ['r', 'g', 'b', 'c', 'w'],
    max: [255, 255, 255, 255, 255],
  },
  hs: { names: ['hue', 'sat'], keys: ['h', 's'], max: [360, 100] },
  xy: { names: ['x', 'y'], keys: ['x', 'y'], max: [1, 1] },
};

/** Returns the numbers in a colour. Errors: `not-convertible`. */
export function numbersOfColor(value: Value, name: string): readonly number[] {
  const { max } = colors[name]!;
  const parts = toText(value).split(',');
  const numbers = parts.map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  if (numbers.length !== max.length || numbers.some((number, place) => !(number >= 0 && number <= max[place]!)))
    throw new HubError(
      'not-convertible',
      `expected ${max.length} numbers separated by commas (maximum values: ${max.join(', ')}), got "${toText(value)}"`,
    );
  return numbers;
}

export function describeColor(name: string): About {
  const { names, max } = colors[name]!;
  return { description: names.map((one, place) => `${one} 0..${max[place]}`).join(', ') };
}
