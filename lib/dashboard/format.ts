// The dashboard format: a grid of widgets bound to addresses. The format is strict: unknown settings are errors. The types are inferred
// from the schemas. The console receives dashboards as returned by `parseDashboard`.

import { z } from 'zod';
import { parseAddress } from '../model/address.ts';
import { describe, messageOf } from '../model/error.ts';
import { record } from '../model/record-schema.ts';
import { isZone } from '../model/time/zone-time.ts';
import type { ValueType } from '../model/value.ts';
import type { Formula } from './formula.ts';
import { whyNoPicture } from './picture-path.ts';
import { maxLines, type Pair } from './place-items.ts';
import { type Tone, tones } from './tone.ts';

export type { Tone };

/** The maximum number of widgets on a dashboard. */
export const maxWidgets = 500;
/** The maximum number of lines in a plot. */
const maxPlotLines = 4;
const maxTabs = 16;
const maxLamps = 256;
const maxEventAddresses = 16;
const maxEvents = 100;

/** The names of the icons that the widget `icon` can show, which the console draws. */
export const iconNames = [
  'mic',
  'mic-off',
  'speaker',
  'mute',
  'headphones',
  'camera',
  'light',
  'power',
  'play',
  'pause',
  'stop',
  'record',
  'door',
  'lock',
  'unlock',
  'bell',
  'phone',
  'person',
  'clock',
  'temperature',
  'fan',
  'water',
  'network',
  'antenna',
  'battery',
  'warning',
  'check',
  'cross',
  'info',
] as const;
export type IconName = (typeof iconNames)[number];

const line = (highest = maxLines) => {
  const error = `an integer 1..${highest}`;
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
/** The schema for an address that the widget writes. A user who adds such a widget must be allowed to write to this address. */
const target = address.meta({ description: '<Connection ID>/<Parameter ID>', format: 'written-address' });
const tone = z.enum(tones, { error: tones.join(', ') });
const flag = z.boolean({ error: 'true or false' });
const anyValue = z.union([z.string(), z.number(), z.boolean()], { error: 'text, a number, true or false' });
const secondsWithin = (least: number, most: number) => {
  const error = `seconds ${least}..${most}`;
  return z.number({ error }).min(least, { error }).max(most, { error });
};
const expression = z
  .string({ error: 'an expression' })
  .min(1, { error: 'an expression' })
  .max(1000, { error: 'an expression of at most 1000 characters' });
const picture = z.string({ error: 'a path such as "/pictures/logo.svg"' }).superRefine((input, context) => {
  const message = whyNoPicture(input);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});
const id = z
  .string({ error: 'a name' })
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, { error: 'a name of letters, digits, - and _' });
const zone = z
  .string({ error: 'a time zone such as "Europe/Berlin"' })
  .refine(isZone, { error: ({ input }) => `expected a time zone such as "Europe/Berlin", got ${describe(input)}` })
  .optional()
  .describe('Time zone such as "Europe/Berlin"; default: the time zone of the screen');

/** The schemas for the settings that every widget has. */
const place = {
  id: id.optional().describe('Name of the widget, for `layouts`'),
  label: text()
    .optional()
    .describe("Label on the widget; default: the parameter's label, or the last part of its address"),
  at: pair('[column, row], both from 1')
    .optional()
    .describe('[column, row] of the upper left corner, counted from 1; default: the first free place'),
  size: pair('[columns, rows]').default([1, 1]).describe('Size in [columns, rows]'),
  visible: expression
    .optional()
    .describe(
      `Expression: the widget is shown while it is true, such as "param('desk/mic') && param('desk/level') > 0.5"`,
    ),
  toneBy: expression
    .optional()
    .describe(`Expression whose result is a tone, such as "param('desk/level') > 0.9 ? 'danger' : 'ok'"`),
};
/** The settings that every widget that writes has. */
const guarding = {
  confirm: text()
    .min(1, { error: 'a question' })
    .optional()
    .describe('Question that the operator confirms before each write'),
  hold: secondsWithin(0.3, 10)
    .optional()
    .describe('Seconds for which the operator must hold the button before it writes'),
  pin: z
    .string({ error: '4 to 8 digits as text' })
    .regex(/^\d{4,8}$/, { error: '4 to 8 digits as text' })
    .optional()
    .describe(
      'Digits to enter before each write. They keep visitors from using the panel; they do not protect the parameter: anyone who can open the dashboard can read them',
    ),
};
const choices = record(z.string(), anyValue, { error: 'an object of values by name' })
  .default({})
  .describe('Values by name: { "Studio 1": 1, "Studio 2": 2 }; default: the choices of the parameter');
const formatting = {
  unit: text(16).optional().describe("Unit after the number; default: the parameter's unit"),
  digits: z
    .int({ error: 'an integer 0..6' })
    .min(0, { error: 'an integer 0..6' })
    .max(6, { error: 'an integer 0..6' })
    .optional()
    .describe('Decimals of a number; default: as many as needed, at most three'),
};
const range = {
  min: number.optional().describe("The value at the lower end; default: the parameter's minimum, or 0"),
  max: number.optional().describe("The value at the upper end; default: the parameter's maximum, or 1"),
};
const zones = z
  .array(z.strictObject({ from: number, tone }), { error: 'a list of { from, tone }' })
  .max(8, { error: 'at most 8 zones' })
  .default([])
  .describe('Tone of a number at or above a value: [{ from: 0.8, tone: "warning" }]');

const inner = {
  columns: line().optional().describe("Columns of the inner grid; default: the widget's width"),
  rows: line().optional().describe("Rows of the inner grid; default: the widget's height"),
};
const law = z
  .enum(['linear', 'db'], { error: 'linear or db' })
  .default('linear')
  .describe('db: the value is in decibels, on a scale like that of a mixing desk');

/**
 * What the studio's palette needs to know about a widget type. Without this information, the palette offers the type for every parameter.
 */
interface Palette {
  /** The value types of parameters for which the widget is suitable, the most suitable type first. */
  readonly suits?: readonly ValueType[];
  /** true means that display widgets are offered before this widget, although this widget writes. */
  readonly isSecondary?: boolean;
  /** The initial settings of a new widget, keyed by the value type of its parameter. */
  readonly presets?: Partial<Record<ValueType, Readonly<Record<string, unknown>>>>;
  /** The size of a new widget: [columns, rows]. The default is [1, 1]. */
  readonly size?: Pair;
}

/** Returns the schema for the setting `type` of a widget type. `about` describes the type in the palette. */
const kind = <const Type extends string>(type: Type, about: string, palette: Palette = {}) =>
  z.literal(type).meta({ description: about, ...palette });

/** The schema for each widget type, keyed by the type's name. The widgets in a group are checked one by one. */
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
    tone: tone.default('ok').describe('Colour while the widget is lit'),
    equals: anyValue
      .optional()
      .describe('Lit at this value; default: at true, numbers above 0 and the texts "true" and "1". A trigger flashes'),
    blink: flag.default(false).describe('Whether the widget blinks while it is lit'),
  }),
  button: z.strictObject({
    type: kind('button', 'Switches, sets or fires', { suits: ['B', 'T'], presets: { T: { mode: 'fire' } } }),
    ...place,
    address: target,
    mode: z
      .enum(['toggle', 'momentary', 'set', 'fire'], { error: 'toggle, momentary, set or fire' })
      .default('toggle')
      .describe('toggle: the opposite; momentary: true while held; set: `value`; fire: a trigger'),
    value: anyValue.optional().describe('With mode set: the value to write'),
    lamp: address
      .optional()
      .describe('Address that lights the button; default: the address that the button writes, unless it is a trigger'),
    tone: tone.default('info').describe('Colour while the widget is lit'),
    ...guarding,
  }),
  fader: z.strictObject({
    type: kind('fader', 'Sets a number within a range', { suits: ['F', 'I'], size: [1, 2] }),
    ...place,
    address: target,
    ...range,
    step: number
      .positive({ error: 'a number above 0' })
      .optional()
      .describe("Default: the parameter's step, or a hundredth of the range"),
    ...formatting,
    law,
    scale: flag.default(false).describe('Marks with numbers along the fader'),
    ...guarding,
  }),
  meter: z.strictObject({
    type: kind('meter', 'A number within a range, as a bar', { suits: ['F', 'I'], size: [1, 2] }),
    ...place,
    address,
    ...range,
    ...formatting,
    zones,
    law,
    scale: flag.default(false).describe('Marks with numbers along the meter'),
    peak: secondsWithin(0, 60).default(0).describe('Seconds for which a mark stays at the highest value; 0: no mark'),
  }),
  plot: z.strictObject({
    type: kind('plot', 'The last seconds of numbers, as lines', { suits: ['F', 'I'], size: [2, 2] }),
    ...place,
    addresses: z
      .array(address, { error: 'a list of addresses' })
      .min(1, { error: 'at least one address' })
      .max(maxPlotLines, { error: `at most ${maxPlotLines} addresses` }),
    seconds: secondsWithin(5, 3600).default(60).describe('The length of the plotted period'),
    min: number.optional().describe('Default: fits the values'),
    max: number.optional().describe('Default: fits the values'),
    ...formatting,
  }),
  select: z.strictObject({
    type: kind('select', 'A list to choose one of several values', { suits: ['S', 'I'], isSecondary: true }),
    ...place,
    address: target,
    choices,
    ...guarding,
  }),
  radio: z.strictObject({
    type: kind('radio', 'Buttons to choose one of several values', {
      suits: ['S', 'I'],
      isSecondary: true,
      size: [2, 1],
    }),
    ...place,
    address: target,
    choices,
    tone: tone.default('info').describe('Colour of the chosen button'),
    ...guarding,
  }),
  number: z.strictObject({
    type: kind('number', 'A field to type a number', { suits: ['F', 'I'], isSecondary: true }),
    ...place,
    address: target,
    min: number.optional().describe("The minimum value; default: the parameter's minimum, or none"),
    max: number.optional().describe("The maximum value; default: the parameter's maximum, or none"),
    step: number
      .positive({ error: 'a number above 0' })
      .optional()
      .describe("The increment for − and +; default: the parameter's step, or 1"),
    ...formatting,
    ...guarding,
  }),
  text: z.strictObject({
    type: kind('text', 'A field to type text', { suits: ['S'], isSecondary: true, size: [2, 1] }),
    ...place,
    address: target,
    lines: line(10).default(1).describe('Lines of the field'),
    maxLength: z
      .int({ error: 'an integer 1..10000' })
      .min(1, { error: 'an integer 1..10000' })
      .max(10_000, { error: 'an integer 1..10000' })
      .default(1000)
      .describe('The maximum number of characters'),
    ...guarding,
  }),
  gauge: z.strictObject({
    type: kind('gauge', 'A number within a range, as an arc', { suits: ['F', 'I'] }),
    ...place,
    address,
    ...range,
    ...formatting,
    zones,
  }),
  clock: z.strictObject({
    type: kind('clock', 'The time of day'),
    ...place,
    zone,
    seconds: flag.default(true).describe('Whether to show seconds'),
    date: flag.default(false).describe('Whether to show the date'),
  }),
  countdown: z.strictObject({
    type: kind('countdown', 'The time until a time of day, or a duration that runs down', { suits: ['F', 'I'] }),
    ...place,
    to: z
      .string({ error: 'a time such as "18:00" or "2026-12-31T18:00:00Z"' })
      .regex(/^(?:(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?|\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d))$/, {
        error: 'a time such as "18:00" or "2026-12-31T18:00:00Z"',
      })
      .refine((text) => text.length < 10 || !Number.isNaN(Date.parse(text)), {
        error: ({ input }) => `expected a time that exists, got ${describe(input)}`,
      })
      .optional()
      .describe('The time to count down to: "18:00" of each day in `zone`, or "2026-12-31T18:00:00+01:00"'),
    address: address
      .optional()
      .describe(
        'Instead of `to`: a parameter with the remaining time as a number, or the end as a text such as "2026-12-31T18:00:00Z"',
      ),
    unit: z
      .enum(['ms', 's', 'min', 'h'], { error: 'ms, s, min or h' })
      .optional()
      .describe("Unit of the parameter's number; default: the parameter's unit, or s"),
    zone,
    done: text(40).optional().describe('Text when the time has run out; default: 0:00'),
    zones: zones.describe(
      'Tone by the remaining seconds: [{ from: 0, tone: "danger" }, { from: 60, tone: "neutral" }]',
    ),
  }),
  alarm: z.strictObject({
    type: kind('alarm', 'An alarm, and a button that acknowledges it', { suits: ['B'], size: [2, 1] }),
    ...place,
    address: address.describe('The address of an alarm, `<Connection ID>/<alarm>`'),
    tone: tone.default('danger').describe('Colour while the alarm is unacknowledged'),
    ...guarding,
  }),
  link: z.strictObject({
    type: kind('link', 'A link to another dashboard'),
    ...place,
    to: text().min(1, { error: 'the name of a dashboard' }).optional().describe('The name of the dashboard to open'),
    back: flag.default(false).describe('Instead of `to`: returns to the previous dashboard'),
    tone: tone.default('neutral'),
  }),
  image: z.strictObject({
    type: kind('image', 'A picture'),
    ...place,
    src: picture.describe(
      'The path of a picture in the `documentRoot` of the REST API connection: "/pictures/studio.jpg"',
    ),
    fit: z
      .enum(['contain', 'cover'], { error: 'contain or cover' })
      .default('contain')
      .describe('contain: shows the whole picture; cover: fills the widget and crops the picture'),
    refresh: secondsWithin(1, 3600).optional().describe('Interval in seconds at which the picture is reloaded'),
  }),
  icon: z.strictObject({
    type: kind('icon', 'An icon whose colour follows a value', { suits: ['B', 'F', 'I'] }),
    ...place,
    icon: z.enum(iconNames, { error: iconNames.join(', ') }).describe('Name of the icon'),
    address: address.optional().describe('The parameter that sets the tone'),
    tones: record(z.string(), tone, { error: 'an object of tones by value' })
      .default({})
      .describe('Tone by value: { true: "danger" }; default: `tone` at the values at which a lamp is lit'),
    tone: tone.default('info').describe('The tone without an address, or while a lamp would be lit'),
    zones,
  }),
  events: z.strictObject({
    type: kind('events', 'The most recent changes to parameters, as a table', { size: [2, 2] }),
    ...place,
    addresses: z
      .array(address, { error: 'a list of addresses' })
      .min(1, { error: 'at least one address' })
      .max(maxEventAddresses, { error: `at most ${maxEventAddresses} addresses` }),
    last: line(maxEvents).default(10).describe('The number of changes to list, newest first'),
  }),
  schedule: z.strictObject({
    type: kind('schedule', 'The time until a schedule entry next opens, closes or fires', {
      suits: ['B', 'T'],
      isSecondary: true,
      size: [2, 1],
    }),
    ...place,
    address: address.describe('<Connection ID>/<entry> of a schedule'),
    next: z
      .int({ error: 'an integer 0..5' })
      .min(0, { error: 'an integer 0..5' })
      .max(5, { error: 'an integer 0..5' })
      .default(3)
      .describe('The number of upcoming times to list'),
    tone: tone.default('ok').describe('The tone while the entry is open'),
  }),
  matrix: z.strictObject({
    type: kind('matrix', 'Many small lamps', { suits: ['B'], size: [2, 2] }),
    ...place,
    lamps: z
      .array(
        z.strictObject({
          address,
          label: text(40).optional().describe("Default: the parameter's label, or the last part of its address"),
          tone: tone.optional().describe("Default: the matrix's tone"),
        }),
        { error: 'a list of { address, label, tone }' },
      )
      .min(1, { error: 'at least one lamp' })
      .max(maxLamps, { error: `at most ${maxLamps} lamps` })
      .describe('The lamps, row by row'),
    columns: line().optional().describe('Lamps per row; default: as many as fit'),
    tone: tone.default('ok').describe('Colour while the lamps are lit'),
    equals: anyValue.optional().describe('Lit at this value; default: as for a lamp'),
  }),
  group: z.strictObject({
    type: kind('group', 'Widgets in a frame', { size: [2, 2] }),
    ...place,
    ...inner,
    widgets: z.array(z.unknown(), { error: 'a list of widgets' }).describe('Widgets of any type but group and tabs'),
  }),
  tabs: z.strictObject({
    type: kind('tabs', 'Pages of widgets, shown one at a time', { size: [2, 2] }),
    ...place,
    tabs: z
      .array(
        z.strictObject({
          label: text(),
          ...inner,
          widgets: z.array(z.unknown(), { error: 'a list of widgets' }).describe('Widgets of any type but tabs'),
        }),
        { error: 'a list of { label, widgets }' },
      )
      .min(1, { error: 'at least one tab' })
      .max(maxTabs, { error: `at most ${maxTabs} tabs` })
      .describe('Pages of widgets, shown one at a time'),
  }),
};

const layout = z.strictObject(
  {
    columns: line().describe('Width of the screen in columns; a wider widget is as wide as the screen'),
    order: z
      .array(id, { error: 'a list of names' })
      .max(maxWidgets)
      .default([])
      .describe('The `id`s of the first widgets, in order; all other widgets follow, in the order of the file'),
    hide: z
      .array(id, { error: 'a list of names' })
      .max(maxWidgets)
      .default([])
      .describe('The `id`s of widgets to leave out'),
  },
  { error: '{ columns, order, hide }' },
);

export const dashboardSchema = z.strictObject({
  $schema: z.string().optional().describe('The JSON Schema for dashboards, for editors'),
  title: text().default('').describe('Default: the name of the file'),
  columns: line().default(6).describe('Width of the screen in columns'),
  rows: line().optional().describe('Height of the screen in rows; default: as many as needed'),
  theme: z
    .enum(['auto', 'light', 'dark'], { error: 'auto, light or dark' })
    .default('auto')
    .describe('auto: the colour scheme of the screen'),
  logo: picture.optional().describe('The path of a picture for the bar, as `src` of an image'),
  layouts: z
    .strictObject(
      {
        phone: layout.optional().describe('Up to 600 pixels wide, or a phone on its side'),
        tablet: layout.optional().describe('Up to 1100 pixels wide'),
      },
      { error: '{ phone, tablet }' },
    )
    .optional()
    .describe('Other arrangements of the widgets, for small screens'),
  widgets: z.array(z.unknown(), { error: 'a list of widgets' }),
});

type Schemas = typeof widgetSchemas;
export type WidgetType = keyof Schemas;
/** The position and size of a widget on a grid: `at` is [column, row], counted from 1. */
export interface Place {
  readonly at: Pair;
  readonly size: Pair;
}
/** A widget of one type with its position, and with its expressions as formulas. */
export type WidgetOf<Type extends WidgetType> = Omit<
  z.output<Schemas[Type]>,
  'at' | 'widgets' | 'tabs' | 'visible' | 'toneBy'
> &
  Pick<Place, 'at'> & { readonly visible?: Formula | undefined; readonly toneBy?: Formula | undefined };
type Outer = 'group' | 'tabs';
export type SingleWidget = { [Type in Exclude<WidgetType, Outer>]: WidgetOf<Type> }[Exclude<WidgetType, Outer>];
/** A grid with the widgets that are placed on it. */
export interface Page<Content> {
  readonly columns: number;
  readonly rows: number;
  readonly widgets: readonly Content[];
}
export type Group = Omit<WidgetOf<'group'>, 'columns' | 'rows'> & Page<SingleWidget>;
export type Tab = Page<SingleWidget | Group> & { readonly label: string };
export type Tabs = WidgetOf<'tabs'> & { readonly tabs: readonly Tab[] };
export type Widget = SingleWidget | Group | Tabs;

/** The positions of a dashboard's widgets on a smaller screen, in the order of the file; null if a widget is omitted. */
export interface Layout {
  readonly columns: number;
  readonly rows: number;
  readonly places: readonly (Place | null)[];
}

/** A checked dashboard, in which every widget has a position and every setting has a value. */
export interface Dashboard extends Page<Widget> {
  readonly title: string;
  readonly theme: 'auto' | 'light' | 'dark';
  readonly logo?: string | undefined;
  readonly layouts: { readonly [Screen in 'phone' | 'tablet']?: Layout | undefined };
}
