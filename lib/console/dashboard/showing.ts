// The look of values on a dashboard: the settings that a widget takes from its parameter, the decimals of numbers, lit lamps, and the tone
// of a number.

import type { About, Value } from '../../client/index.ts';
import type { SingleWidget, Tone, WidgetOf } from '../../dashboard/format.ts';
import { fixedText, roundTo } from '../../model/digits.ts';

/** A widget as it is drawn: settings that it leaves out are those of its parameter. */
export type Drawn<Type extends SingleWidget['type']> = WidgetOf<Type> &
  (Type extends 'fader' | 'meter' ? { readonly unit: string; readonly min: number; readonly max: number } : unknown) &
  (Type extends 'value' | 'plot' ? { readonly unit: string } : unknown);
export type DrawnWidget = { [Type in SingleWidget['type']]: Drawn<Type> }[SingleWidget['type']];

/** Returns a widget with label, unit, range, step and choices of its parameter, where it has none of its own. */
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
    case 'meter': {
      const min = named.min ?? about.min ?? 0;
      const max = named.max ?? about.max ?? Math.max(1, min + 1);
      const range = { min, max, unit: named.unit ?? unit };
      return named.type === 'meter' ? { ...named, ...range } : { ...named, step: named.step ?? about.step, ...range };
    }
    case 'plot':
      return { ...named, unit: named.unit ?? unit };
    default:
      return named;
  }
}

/** The name of each value. */
function textsOf(choices: Readonly<Record<string, Value>>): Record<string, string> {
  return Object.fromEntries(Object.entries(choices).map(([name, value]) => [String(value), name]));
}

/** The default maximum of decimals. */
const mostDigits = 3;

/**
 * Returns `-3.5` or `12.00`, formatted as by `fixed` in expressions. Without `digits` a number has at most three decimals. An unknown value
 * is a dash.
 */
export function showValue(value: Value | undefined, digits?: number): string {
  if (value === undefined) return '–';
  if (typeof value !== 'number') return String(value);
  return digits === undefined ? String(roundTo(value, mostDigits)) : fixedText(value, digits);
}

/** Whether a lamp is lit: at the value `equals`, or else at values that D-02 converts to true. */
export function isLit(value: Value | undefined, equals?: Value): boolean {
  if (value === undefined) return false;
  if (equals !== undefined) return String(value) === String(equals);
  if (typeof value === 'string') return value === '1' || value.toLowerCase() === 'true';
  return Number(value) > 0;
}

/** Returns the tone of the highest zone that a number has reached. */
export function toneAt(zones: readonly { from: number; tone: Tone }[], value: Value | undefined): Tone | undefined {
  if (typeof value !== 'number') return undefined;
  let reached: { from: number; tone: Tone } | undefined;
  for (const zone of zones) if (value >= zone.from && zone.from >= (reached?.from ?? -Infinity)) reached = zone;
  return reached?.tone;
}

/** Returns the position of a value within a range, 0..1. */
export function shareOf(value: Value | undefined, min: number, max: number): number {
  const share = (Number(value ?? min) - min) / (max - min);
  return Number.isFinite(share) ? Math.min(1, Math.max(0, share)) : 0;
}
