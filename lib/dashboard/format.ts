// The format of dashboards: a grid of widgets bound to addresses. It is strict: unknown settings are errors. The types are inferred from
// the schemas; the console receives the result of `parseDashboard`.

import { z } from 'zod';
import { parseAddress } from '../model/address.ts';
import { messageOf } from '../model/error.ts';
import { record } from '../model/record-schema.ts';
import type { ValueType } from '../model/value.ts';
import { maxLines, type Pair } from './place-items.ts';

/** The maximum number of widgets on a dashboard, and of lines in a plot. */
export const maxWidgets = 500;
const maxPlotLines = 4;

/** The meaning of a colour. The theme defines its appearance. */
const tones = ['neutral', 'info', 'ok', 'warning', 'danger'] as const;
export type Tone = (typeof tones)[number];

const line = (highest = maxLines) => {
  const error = `integer 1..${highest}`;
  return z.int({ error }).min(1, { error }).max(highest, { error });
};
const pair = (error: string) => z.tuple([line(), line()], { error });
const text = (length = 200) =>
  z.string({ error: 'text' }).max(length, { error: `text of at most ${length} characters` });
const number = z.number({ error: 'a number' });
const address = z
  .string({ error: 'an address <Connection ID>/<Parameter ID>' })
  .superRefine((input, context) => {
    try {
      parseAddress(input);
    } catch (error) {
      context.addIssue({ code: 'custom', message: messageOf(error) });
    }
  })
  .meta({ description: '<Connection ID>/<Parameter ID>', format: 'address' });
/** An address that the widget writes. Whoever adds such a widget must be allowed to write it. */
const target = address.meta({ description: '<Connection ID>/<Parameter ID>', format: 'written-address' });
const tone = z.enum(tones, { error: tones.join(', ') });

const place = {
  label: text().optional().describe('Label on the widget; default: the label of the parameter'),
  at: pair('[column, row], both from 1')
    .optional()
    .describe('[column, row] of its upper left corner, from 1; default: the first free place'),
  size: pair('[columns, rows]').default([1, 1]).describe('Size in [columns, rows]'),
};
const formatting = {
  unit: text(16).optional().describe('Unit after the number; default: the unit of the parameter'),
  digits: z
    .int({ error: 'integer 0..6' })
    .min(0, { error: 'integer 0..6' })
    .max(6, { error: 'integer 0..6' })
    .optional()
    .describe('Decimals of a number; default: as many as it has, at most three'),
};
const range = {
  min: number.optional().describe('The value at the lower end; default: the minimum of the parameter, or 0'),
  max: number.optional().describe('The value at the upper end; default: the maximum of the parameter, or 1'),
};
const zones = z
  .array(z.strictObject({ from: number, tone }), { error: 'a list of { from, tone }' })
  .max(8, { error: 'at most 8 zones' })
  .default([])
  .describe('Tone of a number at or above a value: [{ from: 0.8, tone: "warning" }]');

/** What the palette of the studio knows about a type; without it, the palette offers the type for every parameter. */
interface Palette {
  /** The value types of the parameters that it suits, the most suitable one first. */
  readonly suits?: readonly ValueType[];
  /** Settings of a new widget, by value type. */
  readonly presets?: Partial<Record<ValueType, Readonly<Record<string, unknown>>>>;
  /** The size of a new widget; default: [1, 1]. */
  readonly size?: Pair;
}

/** The setting `type` of a widget type; `about` describes the type in the palette. */
const kind = <const Type extends string>(type: Type, about: string, palette: Palette = {}) =>
  z.literal(type).meta({ description: about, ...palette });

/** The schema of each widget type. The widgets of a group are checked one by one. */
export const widgetSchemas = {
  label: z.strictObject({
    type: kind('label', 'A heading or a note'),
    ...place,
    label: text(),
    tone: tone.default('neutral'),
  }),
  value: z.strictObject({
    type: kind('value', 'The value as a number or text', { suits: ['S', 'I', 'F', 'B', 'T'] }),
    ...place,
    address,
    ...formatting,
    texts: record(z.string(), text(), { error: 'an object of texts by value' })
      .default({})
      .describe(
        'Text shown instead of a value: { true: "ON AIR", false: "off" }; default: the names of the choices of the parameter',
      ),
    zones,
  }),
  lamp: z.strictObject({
    type: kind('lamp', 'Lit or dark', { suits: ['B', 'T'] }),
    ...place,
    address,
    tone: tone.default('ok').describe('Colour while it is lit'),
    equals: z
      .union([z.string(), z.number(), z.boolean()], { error: 'text, a number, true or false' })
      .optional()
      .describe('Lit at this value; default: at true, numbers above 0 and the texts "true" and "1". A trigger flashes'),
    blink: z.boolean({ error: 'true or false' }).default(false).describe('Blinks while it is lit'),
  }),
  button: z.strictObject({
    type: kind('button', 'Switches, sets or fires', { suits: ['B', 'T'], presets: { T: { mode: 'fire' } } }),
    ...place,
    address: target,
    mode: z
      .enum(['toggle', 'momentary', 'set', 'fire'], { error: 'toggle, momentary, set or fire' })
      .default('toggle')
      .describe('toggle: the opposite; momentary: true while held; set: `value`; fire: a trigger'),
    value: z
      .union([z.string(), z.number(), z.boolean()], { error: 'text, a number, true or false' })
      .optional()
      .describe('With mode set: the value to write'),
    lamp: address.optional().describe('Address that lights it; default: the one it writes, unless that is a trigger'),
    tone: tone.default('info').describe('Colour while it is lit'),
  }),
  fader: z.strictObject({
    type: kind('fader', 'Sets a number within a range', { suits: ['F', 'I'], size: [1, 2] }),
    ...place,
    address: target,
    ...range,
    step: number
      .positive({ error: 'a number above 0' })
      .optional()
      .describe('Default: the step of the parameter, or a hundredth of the range'),
    ...formatting,
  }),
  meter: z.strictObject({
    type: kind('meter', 'A number within a range, as a bar', { suits: ['F', 'I'], size: [1, 2] }),
    ...place,
    address,
    ...range,
    ...formatting,
    zones,
  }),
  plot: z.strictObject({
    type: kind('plot', 'The last seconds of numbers, as lines', { suits: ['F', 'I'], size: [2, 2] }),
    ...place,
    addresses: z
      .array(address, { error: 'a list of addresses' })
      .min(1, { error: 'at least one address' })
      .max(maxPlotLines, { error: `at most ${maxPlotLines} addresses` }),
    seconds: z
      .number({ error: 'seconds 5..3600' })
      .min(5, { error: 'seconds 5..3600' })
      .max(3600, { error: 'seconds 5..3600' })
      .default(60)
      .describe('How far back the plot goes'),
    min: number.optional().describe('Default: fits the values'),
    max: number.optional().describe('Default: fits the values'),
    ...formatting,
  }),
  group: z.strictObject({
    type: kind('group', 'Widgets in a frame', { size: [2, 2] }),
    ...place,
    columns: line().optional().describe('Columns of the inner grid; default: its own width'),
    rows: line().optional().describe('Rows of the inner grid; default: its own height'),
    widgets: z.array(z.unknown(), { error: 'a list of widgets' }).describe('Widgets of any type but group'),
  }),
};

export const dashboardSchema = z.strictObject({
  $schema: z.string().optional().describe('The JSON Schema of dashboards, for editors'),
  title: text().default('').describe('Default: the name of the file'),
  columns: line().default(6).describe('Width of the screen in columns'),
  rows: line().optional().describe('Height of the screen in rows; default: as many as needed'),
  widgets: z.array(z.unknown(), { error: 'a list of widgets' }),
});

type Schemas = typeof widgetSchemas;
export type WidgetType = keyof Schemas;
/** A placed widget of one type: `at` is [column, row] from 1. */
export type WidgetOf<Type extends WidgetType> = Omit<z.output<Schemas[Type]>, 'at' | 'widgets'> & {
  readonly at: Pair;
};
export type SingleWidget = { [Type in Exclude<WidgetType, 'group'>]: WidgetOf<Type> }[Exclude<WidgetType, 'group'>];
/** A group has a separate grid. */
export interface Group extends Omit<WidgetOf<'group'>, 'columns' | 'rows'> {
  readonly columns: number;
  readonly rows: number;
  readonly widgets: readonly SingleWidget[];
}
export type Widget = SingleWidget | Group;

/** A checked dashboard: every widget has a position, and every setting has a value. */
export interface Dashboard {
  readonly title: string;
  readonly columns: number;
  readonly rows: number;
  readonly widgets: readonly Widget[];
}
