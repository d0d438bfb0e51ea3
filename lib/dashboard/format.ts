// The format of dashboards: a grid of widgets that are bound to addresses. It is strict: any other setting is a mistake. The console
// reads what `parseDashboard` makes of a file; those types follow from the schemas.

import { z } from 'zod';
import { parseAddress } from '../model/address.ts';
import { messageOf } from '../model/error.ts';
import { record } from '../model/record-schema.ts';

/** How many columns and rows a grid has at most, how many widgets a dashboard, and how many lines a plot. */
export const maxLines = 48;
export const maxWidgets = 500;
const maxPlotLines = 4;

/** What a colour means. The theme decides how it looks. */
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
  .describe('<Connection ID>/<Parameter ID>');
const tone = z.enum(tones, { error: tones.join(', ') });

const place = {
  label: text().optional().describe('What stands on the widget'),
  at: pair('[column, row], both from 1')
    .optional()
    .describe('[column, row] of its upper left corner, from 1; left out: the first free place'),
  size: pair('[columns, rows]').default([1, 1]).describe('How many [columns, rows] it takes'),
};
const formatting = {
  unit: text(16).default('').describe('Stands behind the number'),
  digits: z
    .int({ error: 'integer 0..6' })
    .min(0, { error: 'integer 0..6' })
    .max(6, { error: 'integer 0..6' })
    .optional()
    .describe('Decimals of a number; left out: as many as it has, three at most'),
};
const range = {
  min: number.default(0).describe('The value at the low end'),
  max: number.default(1).describe('The value at the high end'),
};
const zones = z
  .array(z.strictObject({ from: number, tone }), { error: 'a list of { from, tone }' })
  .max(8, { error: 'at most 8 zones' })
  .default([])
  .describe('The tone of a number from a value on: [{ from: 0.8, tone: "warning" }]');

/** The schema of each type of widget. The widgets of a group are checked one by one. */
export const widgetSchemas = {
  label: z.strictObject({ type: z.literal('label'), ...place, label: text(), tone: tone.default('neutral') }),
  value: z.strictObject({
    type: z.literal('value'),
    ...place,
    address,
    ...formatting,
    texts: record(z.string(), text(), { error: 'an object of texts by value' })
      .default({})
      .describe('What is shown instead of a value: { true: "ON AIR", false: "off" }'),
    zones,
  }),
  lamp: z.strictObject({
    type: z.literal('lamp'),
    ...place,
    address,
    tone: tone.default('ok').describe('Its colour while it is lit'),
    equals: z
      .union([z.string(), z.number(), z.boolean()], { error: 'a text, a number, true or false' })
      .optional()
      .describe('Lit at this value; left out: at true, numbers over 0 and the texts "true" and "1". A trigger flashes'),
    blink: z.boolean({ error: 'true or false' }).default(false).describe('Blinks while it is lit'),
  }),
  button: z.strictObject({
    type: z.literal('button'),
    ...place,
    address,
    mode: z
      .enum(['toggle', 'momentary', 'set', 'fire'], { error: 'toggle, momentary, set or fire' })
      .default('toggle')
      .describe('toggle: the opposite; momentary: true while held; set: `value`; fire: a trigger'),
    value: z
      .union([z.string(), z.number(), z.boolean()], { error: 'a text, a number, true or false' })
      .optional()
      .describe('With mode set: what is written'),
    lamp: address.optional().describe('What lights it; left out: what it writes, where that has a value'),
    tone: tone.default('info').describe('Its colour while it is lit'),
  }),
  fader: z.strictObject({
    type: z.literal('fader'),
    ...place,
    address,
    ...range,
    step: number.positive({ error: 'a number above 0' }).optional().describe('Left out: a hundredth of the range'),
    ...formatting,
  }),
  meter: z.strictObject({ type: z.literal('meter'), ...place, address, ...range, ...formatting, zones }),
  plot: z.strictObject({
    type: z.literal('plot'),
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
      .describe('How far back it goes'),
    min: number.optional().describe('Left out: what fits'),
    max: number.optional().describe('Left out: what fits'),
    ...formatting,
  }),
  group: z.strictObject({
    type: z.literal('group'),
    ...place,
    columns: line().optional().describe('Of the grid within; left out: as many as it takes'),
    rows: line().optional().describe('Of the grid within; left out: as many as it takes'),
    widgets: z.array(z.unknown(), { error: 'a list of widgets' }).describe('No groups'),
  }),
};

export const dashboardSchema = z.strictObject({
  $schema: z.string().optional().describe('The JSON Schema of dashboards, for editors'),
  title: text().default('').describe('Left out: the name of the file'),
  columns: line().default(6).describe('The screen is as many columns wide'),
  rows: line().optional().describe('The screen is as many rows high; left out: as many as are needed'),
  widgets: z.array(z.unknown(), { error: 'a list of widgets' }),
});

type Schemas = typeof widgetSchemas;
export type WidgetType = keyof Schemas;
/** A widget of one type in its place: `at` is [column, row] from 1. */
export type WidgetOf<Type extends WidgetType> = Omit<z.output<Schemas[Type]>, 'at' | 'widgets'> & {
  readonly at: Pair;
};
export type Pair = readonly [number, number];
export type SingleWidget = { [Type in Exclude<WidgetType, 'group'>]: WidgetOf<Type> }[Exclude<WidgetType, 'group'>];
/** A group has a grid of its own. */
export interface Group extends Omit<WidgetOf<'group'>, 'columns' | 'rows'> {
  readonly columns: number;
  readonly rows: number;
  readonly widgets: readonly SingleWidget[];
}
export type Widget = SingleWidget | Group;

/** A dashboard after the check: every widget has its place, and every setting has a value. */
export interface Dashboard {
  readonly title: string;
  readonly columns: number;
  readonly rows: number;
  readonly widgets: readonly Widget[];
}
