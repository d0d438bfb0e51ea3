// The appearance of values on a dashboard: the settings that a widget takes from its parameter, the decimals of numbers, lit lamps, and the
// tone of a number.

import type { About, Value } from '../../client/index.ts';
import type { SingleWidget, Tone, WidgetOf } from '../../dashboard/format.ts';
import { fixedText, roundTo } from '../../model/digits.ts';
import { localNumber } from '../language/language.ts';

/** A widget as it is drawn: settings that the widget omits are supplied by its parameter. */
export type Drawn<Type extends SingleWidget['type']> = WidgetOf<Type> &
  (Type extends 'fader' | 'meter' | 'gauge'
    ? { readonly unit: string; readonly min: number; readonly max: number }
    : unknown) &
  (Type extends 'value' | 'plot' | 'number' ? { readonly unit: string } : unknown);
export type DrawnWidget = { [Type in SingleWidget['type']]: Drawn<Type> }[SingleWidget['type']];

/** Returns a widget as it is drawn: the parameter's metadata supplies the omitted label, unit, range, step and choices. */
export function drawnAs(widget: SingleWidget, about: About = {}): DrawnWidget {
  const { label, unit = '', choices = {} } = about;
  const named = { ...widget, label: widget.label ?? label };
  switch (named.type) {
    case 'label':
      return { ...named, label: named.label ?? '' };
    case 'value': {
      const texts = Object.keys(named.texts).length > 0 ? named.texts : textsOf(choices);
      return { ...named, texts, unit: named.unit ?? unit };
    }
    case 'fader':
    case 'meter':
    case 'gauge': {
      const min = named.min ?? about.min ?? 0;
      const max = named.max ?? about.max ?? Math.max(1, min + 1);
      const range = { min, max, unit: named.unit ?? unit };
      return named.type === 'fader' ? { ...named, step: named.step ?? about.step, ...range } : { ...named, ...range };
    }
    case 'number': {
      const range = { min: named.min ?? about.min, max: named.max ?? about.max };
      return { ...named, ...range, step: named.step ?? about.step, unit: named.unit ?? unit };
    }
    case 'select':
    case 'radio':
      return { ...named, choices: Object.keys(named.choices).length > 0 ? named.choices : choices };
    case 'countdown':
      return { ...named, unit: named.unit ?? timeUnits.find((one) => one === unit) };
    case 'plot':
      return { ...named, unit: named.unit ?? unit };
    default:
      return named;
  }
}

const timeUnits = ['ms', 's', 'min', 'h'] as const;

/** Returns the names of choices, keyed by the value as a string. */
function textsOf(choices: Readonly<Record<string, Value>>): Record<string, string> {
  return Object.fromEntries(Object.entries(choices).map(([name, value]) => [String(value), name]));
}

/** The maximum number of decimals of a number for which no decimals are set. */
const mostDigits = 3;

/**
 * Formats a value for a widget, with the decimal mark of the language: `-3.5` or `12.00`, like `fixed` in expressions. Without `digits`, a number has at most three decimals. An
 * unknown value is shown as a dash.
 */
export function showValue(value: Value | undefined, digits?: number): string {
  if (value === undefined) return '–';
  if (typeof value !== 'number') return String(value);
  return localNumber(digits === undefined ? String(roundTo(value, mostDigits)) : fixedText(value, digits));
}

/** Returns whether a lamp is lit, that is, has the value `equals` or, if `equals` is omitted, a value that D-02 converts to true. */
export function isLit(value: Value | undefined, equals?: Value): boolean {
  if (value === undefined) return false;
  if (equals !== undefined) return String(value) === String(equals);
  if (typeof value === 'string') return value === '1' || value.toLowerCase() === 'true';
  return Number(value) > 0;
}

/** Returns the tone of the highest zone that a number has reached, or undefined if it has reached none. */
export function toneAt(zones: readonly { from: number; tone: Tone }[], value: Value | undefined): Tone | undefined {
  if (typeof value !== 'number') return undefined;
  let reached: { from: number; tone: Tone } | undefined;
  for (const zone of zones) if (value >= zone.from && zone.from >= (reached?.from ?? -Infinity)) reached = zone;
  return reached?.tone;
}

/** Returns the position of a value within a range as a fraction, 0..1. */
export function shareOf(value: Value | undefined, min: number, max: number, law: Law = 'linear'): number {
  const place = law === 'db' ? deflection : (number: number) => number;
  const share = (place(Number(value ?? min)) - place(min)) / (place(max) - place(min));
  return Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
}

/** Returns the value at a position within a range, given as a fraction: the inverse of `shareOf`. */
export function valueAt(share: number, min: number, max: number, law: Law = 'linear'): number {
  if (law === 'linear') return min + share * (max - min);
  const wanted = deflection(min) + share * (deflection(max) - deflection(min));
  const upper = Math.max(
    1,
    points.findIndex(([, place]) => place >= wanted),
  );
  const [[fromDb, from], [toDb, to]] = [points[upper - 1]!, points[upper]!];
  return fromDb + ((wanted - from) / (to - from)) * (toDb - fromDb);
}

export type Law = 'linear' | 'db';

/**
 * The deflection of a meter by the level in decibels, according to IEC 60268-18 and extended beyond both ends: points [dB, percent], with
 * linear interpolation in between.
 */
const points: readonly (readonly [db: number, percent: number])[] = [
  [-1000, -12],
  [-70, 0],
  [-60, 2.5],
  [-50, 7.5],
  [-40, 15],
  [-30, 30],
  [-20, 50],
  [0, 100],
  [1000, 2600],
];

function deflection(db: number): number {
  const upper = Math.max(
    1,
    points.findIndex(([at]) => at >= db),
  );
  const [[fromDb, from], [toDb, to]] = [points[upper - 1]!, points[upper]!];
  return from + ((db - fromDb) / (toDb - fromDb)) * (to - from);
}

const decibels = [20, 12, 10, 6, 5, 0, -5, -10, -20, -30, -40, -50, -60, -70, -80, -100];
/** The fraction of a scale's length that one mark needs. */
export const markShare = 0.085;

/**
 * Returns the values to mark on a scale, from the lower end to the upper end: at most 11 values. `least` is the fraction of the scale that one
 * mark needs.
 */
export function marksOf(min: number, max: number, law: Law, least = markShare): number[] {
  if (law === 'db') {
    const marks: number[] = [];
    const places: number[] = [];
    // 0 dB comes first, because it is always marked
    for (const db of [0, ...decibels.filter((one) => one !== 0)]) {
      const place = shareOf(db, min, max, law);
      if (db < min || db > max || places.some((one) => Math.abs(one - place) < least)) continue;
      marks.push(db);
      places.push(place);
    }
    return marks.sort((one, other) => one - other);
  }
  const rough = (max - min) / Math.max(1, Math.min(5, Math.floor(1 / least) - 1));
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 2.5, 5, 10].find((one) => one * power >= rough * 0.999) ?? 10);
  const first = Math.ceil(min / step - 1e-9);
  const last = Math.floor(max / step + 1e-9);
  return Array.from({ length: Math.min(11, last - first + 1) }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}
