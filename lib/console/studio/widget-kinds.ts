// The widget types and their settings, derived from the JSON Schema for dashboards: a new type automatically appears in the palette and has
// a form.

import type { ValueType } from '../../model/value.ts';
import type { ParameterInfo } from '../../wire/http/parameter-shapes.ts';

/** The part of JSON Schema that the studio supports. */
export interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema | boolean;
  readonly prefixItems?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
  readonly default?: unknown;
  readonly description?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly maxLength?: number;
  /** For the palette: the value types for which the widget is suitable. */
  readonly suits?: readonly ValueType[];
  /** For the palette: whether display widgets are offered before this widget. */
  readonly isSecondary?: boolean;
  /** For the palette: the settings of a new widget, keyed by value type. */
  readonly presets?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** For the palette: the size of a new widget, [columns, rows]. */
  readonly size?: Pair;
}

type Pair = readonly [number, number];
export type Widget = Readonly<Record<string, unknown>>;

export type Holds = 'widgets' | 'tabs' | undefined;

export interface Setting {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

export interface Kind {
  readonly type: string;
  readonly about: string;
  readonly suits: readonly ValueType[] | undefined;
  /** Whether the palette offers display widgets before this widget, although this widget writes. */
  readonly isSecondary: boolean;
  readonly presets: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly size: Pair;
  readonly settings: readonly Setting[];
  /** What the widget contains: widgets, tabs with widgets, or nothing. */
  readonly holds: Holds;
}

export interface Kinds {
  readonly all: readonly Kind[];
  /** The settings of the dashboard itself, as opposed to those of its widgets. */
  readonly panel: readonly Setting[];
  of(type: unknown): Kind | undefined;
}

const internal = new Set(['type', 'each', 'widgets', 'tabs', '$schema']);

/** Reads the widget types and their settings from the JSON Schema for dashboards. */
export function readKinds(schema: Schema): Kinds {
  const kinds = new Map<string, Kind>();
  const visit = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return;
    const { properties } = node as Schema;
    const type = properties?.type?.const;
    if (typeof type === 'string' && !kinds.has(type)) kinds.set(type, kindOf(type, node as Schema));
    for (const one of Object.values(node)) visit(one);
  };
  visit(schema);
  const all = [...kinds.values()];
  return { all, panel: settingsOf(schema), of: (type) => (typeof type === 'string' ? kinds.get(type) : undefined) };
}

function kindOf(type: string, schema: Schema): Kind {
  const { description = '', suits, isSecondary = false, presets = {}, size = [1, 1] } = schema.properties!.type!;
  const holds = (['widgets', 'tabs'] as const).find((name) => schema.properties![name] !== undefined);
  return { type, about: description, suits, isSecondary, presets, size, settings: settingsOf(schema), holds };
}

function settingsOf({ properties = {}, required = [] }: Schema): Setting[] {
  return Object.entries(properties)
    .filter(([name]) => !internal.has(name))
    .map(([name, schema]) => ({ name, schema: plain(schema), isRequired: required.includes(name) }));
}

/** Returns a setting's schema without the alternative that permits a variable such as `${n}`. */
export function plain(schema: Schema): Schema {
  const { anyOf, ...others } = schema;
  if (anyOf === undefined) return schema;
  const values = anyOf.filter(({ pattern }) => pattern !== '\\$\\{');
  return values.length === 1 ? { ...values[0], ...others } : { ...others, anyOf: values };
}

export function isAddress({ format }: Schema): boolean {
  return format === 'address' || format === 'written-address';
}

/** Returns the setting that receives the parameter of a new widget, or undefined if there is no such setting. */
function addressSetting({ settings }: Kind): { readonly setting: Setting; readonly isList: boolean } | undefined {
  const single = settings.find(({ schema, isRequired }) => isRequired && isAddress(schema));
  if (single !== undefined) return { setting: single, isList: false };
  const list = settings.find(({ schema: { items } }) => typeof items === 'object' && isAddress(plain(items)));
  return list && { setting: list, isList: true };
}

/** Returns the addresses that the settings of a widget contain. */
export function addressesIn(kind: Kind, widget: Widget): string[] {
  const found: string[] = [];
  const visit = (value: unknown, schema: Schema) => {
    const { items, properties = {}, additionalProperties } = schema;
    if (typeof value === 'string') {
      if (isAddress(schema) && value.includes('/')) found.push(value);
    } else if (Array.isArray(value)) {
      if (typeof items === 'object') for (const one of value) visit(one, plain(items));
    } else if (typeof value === 'object' && value !== null)
      for (const [key, one] of Object.entries(value)) {
        const inner = properties[key] ?? additionalProperties;
        if (typeof inner === 'object') visit(one, plain(inner));
      }
  };
  for (const { name, schema } of kind.settings) visit(widget[name], schema);
  return found;
}

/**
 * Returns the kinds of widgets that are suitable for a parameter. The most suitable kind comes first, and kinds that write come before
 * kinds that only display.
 */
export function kindsFor({ all }: Kinds, { type }: Pick<ParameterInfo, 'type'>, mayWrite: boolean): Kind[] {
  const rank = (kind: Kind) => {
    const place = kind.suits?.indexOf(type) ?? all.length;
    return (kind.isSecondary ? 200 : writes(kind) ? 0 : 100) + place;
  };
  return all
    .filter((kind) => addressSetting(kind) !== undefined && (kind.suits?.includes(type) ?? true))
    .filter((kind) => mayWrite || !writes(kind))
    .sort((one, other) => rank(one) - rank(other));
}

function writes(kind: Kind): boolean {
  return addressSetting(kind)?.setting.schema.format === 'written-address';
}

/** Returns the settings of a new widget of a kind, for a parameter if one is given. */
export function newWidget(kind: Kind, parameter?: Pick<ParameterInfo, 'parameter' | 'type'>): Widget {
  const widget: Record<string, unknown> = { type: kind.type };
  const slot = addressSetting(kind);
  for (const { name, schema, isRequired } of kind.settings)
    if (isRequired && name !== slot?.setting.name && schema.default === undefined)
      widget[name] = emptyValue(schema, name);
  if (slot !== undefined) {
    const address = parameter?.parameter ?? '';
    if (!slot.isList) widget[slot.setting.name] = address;
    else widget[slot.setting.name] = address === '' ? [] : [address];
  }
  if (kind.holds === 'widgets') widget.widgets = [];
  if (kind.holds === 'tabs') widget.tabs = [newTab(1)];
  return { ...widget, ...(parameter && kind.presets[parameter.type]) };
}

export function newTab(number: number): Widget {
  return { label: `Tab ${number}`, widgets: [] };
}

/** Returns the initial value for a required setting, according to its schema. */
export function emptyValue(schema: Schema, name = ''): unknown {
  if (schema.default !== undefined) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.type === 'number' || schema.type === 'integer') return schema.minimum ?? 0;
  if (schema.type === 'boolean') return false;
  if (schema.type === 'array') return schema.prefixItems?.map((one) => emptyValue(plain(one))) ?? [];
  if (schema.type === 'object') return emptyObject(schema);
  return name === 'label' ? 'Label' : '';
}

function emptyObject({ properties = {}, required = [] }: Schema): object {
  return Object.fromEntries(required.map((name) => [name, emptyValue(plain(properties[name] ?? {}))]));
}

/**
 * Returns a widget with the default values of its settings, in the form that panels draw, or undefined if a required setting is missing.
 */
export function completed(kind: Kind, widget: Widget): Widget | undefined {
  const whole: Record<string, unknown> = { ...widget };
  for (const { name, schema, isRequired } of kind.settings) {
    const isMissing = whole[name] === undefined || whole[name] === '' || isEmptyList(whole[name]);
    if (isMissing && isRequired && schema.default === undefined && name !== 'label') return undefined;
    if (whole[name] === undefined && schema.default !== undefined) whole[name] = schema.default;
  }
  return whole;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
