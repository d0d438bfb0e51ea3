// Parses a dashboard: checks its text, each widget against the schema of its type, and the position of each widget. All errors are reported
// together, each with its line, column and the most similar name.
import { z } from 'zod';
import { ExpressionMistake } from '../expression/expression.ts';
import { type CheckedFile, formatMistake, type Mistake, MistakeList, type SettingPath } from '../json5/mistake.ts';
import { unknownName } from '../json5/nearest-name.ts';
import { formatPath } from '../json5/positions.ts';
import { Json5Error, readJson5 } from '../json5/read-json5.ts';
import { describe, HubError } from '../model/error.ts';
import { isJsonObject } from '../model/json-object.ts';
import type { NamedAddress } from '../model/named-address.ts';
import { allowVariables } from '../template/allow-variables.ts';
import { eachSchema } from '../template/each.ts';
import { expand } from '../template/expand.ts';
import { type Dashboard, dashboardSchema, maxWidgets, type WidgetType, widgetSchemas } from './format.ts';
import { addressesOfFormula, type Formula } from './formula.ts';
import { layOut } from './layout.ts';
import { type Pair, placeItems } from './place-items.ts';
import { readFormula } from './read-formula.ts';

/** Returns the reason why an address on a dashboard is invalid, or undefined if the address is valid. */
type WhyUnknown = (address: string, found: () => Omit<NamedAddress, 'address'>) => string | undefined;

interface Names {
  /** If omitted, every address is accepted. */
  readonly whyUnknown?: WhyUnknown | undefined;
  /**
   * Returns the reason why there is no dashboard with this name, or undefined if the dashboard exists. If omitted, every name is accepted.
   */
  readonly whyNoDashboard?: ((name: string) => string | undefined) | undefined;
}

/** Parses and checks the text of a dashboard file. Errors: `bad-dashboard`, whose message has one line per error. */
export function parseDashboard(file: string, text: string, names: Names = {}): Dashboard {
  const mistakes = new MistakeList();
  const dashboard = read(file, text, mistakes, names);
  if (dashboard === undefined || mistakes.items.length > 0)
    throw new HubError('bad-dashboard', mistakes.items.map(formatMistake).join('\n'), { where: file });
  return dashboard;
}

/** The errors in a dashboard file, and the addresses in those widgets that have no errors. */
export interface DashboardFindings {
  readonly mistakes: readonly Mistake[];
  readonly addresses: readonly NamedAddress[];
}

/** Parses and checks the text of a dashboard file. Every address is accepted, even if there is no such parameter. */
export function findingsIn(file: string, text: string): DashboardFindings {
  const mistakes = new MistakeList();
  const addresses: NamedAddress[] = [];
  read(file, text, mistakes, {
    whyUnknown(address, found) {
      addresses.push({ address, ...found() });
      return undefined;
    },
  });
  return { mistakes: mistakes.items, addresses };
}

function read(name: string, text: string, mistakes: MistakeList, names: Names): Dashboard | undefined {
  try {
    const { data, duplicates, positionOf } = readJson5(text);
    const whole = { name, data, positionOf };
    for (const { path, message, position } of duplicates) mistakes.add(whole, path, message, position);
    const file = expand(whole, text, mistakes);
    const found = mistakes.parse(dashboardSchema, file.data, file, []);
    if (found === undefined) return undefined;
    const { title, columns, rows, theme, logo, layouts = {} } = found;
    const { check, ids } = createCheck(mistakes, file, names);
    const grid = check(found.widgets, ['widgets'], columns, rows, ['group', 'tabs']);
    const laidOut: Record<string, object> = {};
    for (const [screen, layout] of Object.entries(layouts)) {
      if (layout === undefined) continue;
      for (const key of ['order', 'hide'] as const)
        for (const [index, id] of layout[key].entries())
          if (!grid.widgets.some((widget) => widget.id === id))
            mistakes.add(file, ['layouts', screen, key, index], unknownId(id, ids));
      laidOut[screen] = layOut(grid.widgets, layout);
    }
    return { title, columns, theme, ...(logo !== undefined && { logo }), layouts: laidOut, ...grid } as never;
  } catch (error) {
    if (!(error instanceof Json5Error)) throw error;
    mistakes.addFile(name, error.message, error.position);
    return undefined;
  }
}

interface Grid {
  readonly rows: number;
  readonly widgets: readonly Loose[];
}

/** A widget of any type, as validated by the schema of its type. */
type Loose = Record<string, unknown> & { id?: string; size: Pair; at?: Pair };
/** The types of widgets that contain other widgets. */
type Outer = 'group' | 'tabs';

/**
 * Returns a function that checks a list of widgets and places each widget. The function counts all widgets on the dashboard, and remembers
 * their names.
 */
function createCheck(mistakes: MistakeList, file: CheckedFile, { whyUnknown, whyNoDashboard }: Names) {
  let count = 0;
  const ids = new Set<string>();

  /** Checks one widget at a path. `outer` contains the types of widgets with their own grid that are allowed here. */
  const checkOne = (input: unknown, path: SettingPath, outer: readonly Outer[]): Loose | undefined => {
    count += 1;
    if (count > maxWidgets) {
      if (count === maxWidgets + 1) mistakes.add(file, path, `expected at most ${maxWidgets} widgets, got more`);
      return undefined;
    }
    const known = Object.keys(widgetSchemas).filter(
      (type) => (type !== 'group' && type !== 'tabs') || outer.includes(type),
    );
    if (!isJsonObject(input)) {
      mistakes.add(file, path, `expected a widget { type, … }, got ${describe(input)}`);
      return undefined;
    }
    const { type } = input;
    if (typeof type !== 'string' || !known.includes(type)) {
      const message =
        typeof type === 'string'
          ? unknownName('type of widget', type, known)
          : `expected one of ${known.join(', ')}, got ${describe(type)}`;
      mistakes.add(file, [...path, 'type'], message);
      return undefined;
    }
    const widget = mistakes.parse(widgetSchemas[type as WidgetType], input, file, path) as Loose | undefined;
    if (widget === undefined) return undefined;
    for (const message of mistakesIn(widget)) mistakes.add(file, [...path, message.key], message.text);
    if (widget.id !== undefined && ids.has(widget.id))
      mistakes.add(file, [...path, 'id'], `expected a unique name, got ${describe(widget.id)} twice`);
    if (widget.id !== undefined) ids.add(widget.id);
    const why = whyNoDashboard?.(String(widget.to));
    if (type === 'link' && widget.to !== undefined && why !== undefined) mistakes.add(file, [...path, 'to'], why);
    const formulas = {
      ...formulaOf(widget, path, 'visible', 'condition'),
      ...formulaOf(widget, path, 'toneBy', 'tone'),
    };
    const named = [...addressesIn(widget, schemaOf(type as WidgetType)), ...addressesInFormulas(formulas)];
    for (const [key, address, isWritten] of named) {
      const at = [...path, ...key];
      const found = () => {
        const { line, column } = file.positionOf(at) ?? {};
        const { at: _, size: __, widgets: ___, tabs: ____, ...settings } = widget;
        const written = file.writtenAt?.(at).path ?? at;
        return { path: formatPath(written), line, column, isWritten, part: JSON.stringify(settings) };
      };
      const message = whyUnknown?.(address, found);
      if (message !== undefined) mistakes.add(file, at, message);
    }
    const whole = { ...widget, ...formulas } as Loose;
    if (type === 'group') return { ...whole, ...checkPage(widget, widget.size, path, []) };
    if (type !== 'tabs') return whole;
    const tabs = (widget.tabs as Record<string, unknown>[]).map((tab, index) => ({
      ...tab,
      ...checkPage(tab, widget.size, [...path, 'tabs', index], ['group']),
    }));
    return { ...whole, tabs };
  };

  /** Checks the widgets on the grid of a group or tab. By default, the grid has as many columns and rows as its widget. */
  const checkPage = (page: Record<string, unknown>, size: Pair, path: SettingPath, outer: readonly Outer[]) => {
    const columns = (page.columns as number | undefined) ?? size[0];
    const rows = (page.rows as number | undefined) ?? size[1];
    return { columns, ...check(page.widgets as unknown[], [...path, 'widgets'], columns, rows, outer) };
  };

  const formulaOf = (widget: Loose, path: SettingPath, key: 'visible' | 'toneBy', expects: 'condition' | 'tone') => {
    const text = widget[key] as string | undefined;
    if (text === undefined) return {};
    try {
      return { [key]: readFormula(text, expects) };
    } catch (error) {
      if (!(error instanceof ExpressionMistake)) throw error;
      mistakes.add(file, [...path, key], error.message, file.positionOf([...path, key], error.offset));
      return {};
    }
  };

  const check = (
    inputs: readonly unknown[],
    path: SettingPath,
    columns: number,
    rows: number | undefined,
    outer: readonly Outer[],
  ): Grid => {
    const checked = inputs.map((input, index) => checkOne(input, [...path, index], outer));
    const indexes = [...checked.keys()].filter((index) => checked[index] !== undefined);
    const widgets = indexes.map((index) => checked[index]!);
    const placed = placeItems(widgets, columns, rows);
    for (const { index, message } of placed.mistakes) {
      const key = widgets[index]!.at === undefined ? 'size' : 'at';
      mistakes.add(file, [...path, indexes[index]!, key], message);
    }
    return { rows: placed.rows, widgets: widgets.map((widget, index) => ({ ...widget, at: placed.at[index]! })) };
  };
  return { check, ids };
}

function unknownId(id: string, ids: ReadonlySet<string>): string {
  return ids.has(id)
    ? `expected a widget outside groups and tabs, got "${id}"`
    : unknownName('id of a widget', id, [...ids]);
}

type JsonSchema = z.core.JSONSchema.BaseSchema;

const schemas = new Map<WidgetType, JsonSchema>();

/** Returns the JSON Schema of a widget type. */
function schemaOf(type: WidgetType): JsonSchema {
  const known = schemas.get(type);
  if (known !== undefined) return known;
  const schema = z.toJSONSchema(widgetSchemas[type], { io: 'input', unrepresentable: 'any' });
  schemas.set(type, schema);
  return schema;
}

/** Yields the addresses in a value with their paths, and whether the widget writes to each address, as marked in the schema. */
function* addressesIn(
  value: unknown,
  schema: JsonSchema | boolean | undefined,
  path: SettingPath = [],
): Generator<[path: SettingPath, address: string, isWritten: boolean]> {
  if (typeof schema !== 'object') return;
  const { format, items, properties = {}, additionalProperties, anyOf = [] } = schema;
  if (typeof value === 'string') {
    if (format === 'address' || format === 'written-address') yield [path, value, format === 'written-address'];
  } else if (Array.isArray(value)) {
    if (!Array.isArray(items))
      for (const [index, one] of value.entries()) yield* addressesIn(one, items, [...path, index]);
  } else if (isJsonObject(value))
    for (const [key, one] of Object.entries(value))
      yield* addressesIn(one, Object.hasOwn(properties, key) ? properties[key] : additionalProperties, [...path, key]);
  for (const one of anyOf) yield* addressesIn(value, one, path);
}

function addressesInFormulas(formulas: Readonly<Record<string, Formula>>): [SettingPath, string, boolean][] {
  return Object.entries(formulas).flatMap(([key, formula]) =>
    addressesOfFormula(formula).map((address): [SettingPath, string, boolean] => [[key], address, false]),
  );
}

/** Yields the contradictions between settings in a widget, which a schema cannot express. */
function* mistakesIn(widget: Loose): Generator<{ key: string; text: string }> {
  const { type, mode, value, min, max } = widget;
  if (type === 'button' && mode === 'set' && value === undefined)
    yield { key: 'mode', text: 'expected a setting value for mode "set", got none' };
  if (type === 'button' && mode !== 'set' && value !== undefined)
    yield { key: 'value', text: `expected mode "set" for this setting, got ${describe(mode)}` };
  if (type === 'button' && mode === 'momentary')
    for (const key of ['confirm', 'hold', 'pin'])
      if (widget[key] !== undefined)
        yield {
          key,
          text: 'expected a different mode for this setting, got "momentary", which writes while the button is held',
        };
  if (typeof min === 'number' && typeof max === 'number' && min >= max)
    yield { key: 'max', text: `expected a number above min (${min}), got ${describe(max)}` };
  if (type === 'link' && (widget.to === undefined) !== widget.back)
    yield { key: 'to', text: 'expected either `to` or `back: true`' };
  if (type === 'countdown' && (widget.to === undefined) === (widget.address === undefined))
    yield { key: 'to', text: 'expected either `to` or `address`' };
}

// The JSON Schema, with which editors complete and check dashboards.

const each = { each: eachSchema.optional() };

/** Returns the JSON Schema for dashboards, for use in editors. The schema covers widgets and the keys that templates add. */
export function dashboardJsonSchema(): object {
  const { group, tabs, ...single } = widgetSchemas;
  const singles = Object.values(single).map((schema) => (schema as z.ZodObject).extend(each));
  const within = listOf(singles);
  const groups = group.extend({ ...each, widgets: within });
  const tab = tabs.shape.tabs.element.extend({ ...each, widgets: listOf([...singles, groups]) });
  const widgets = listOf([...singles, groups, tabs.extend({ ...each, tabs: z.array(tab) })]);
  const schema = dashboardSchema.extend({ widgets });
  return allowVariables(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
}

/** Returns the schema for a list whose items are widgets, or lists of widgets that are repeated. */
function listOf(schemas: readonly z.ZodObject[]): z.ZodType {
  const [first, ...others] = schemas;
  const widget = z.discriminatedUnion('type', [first!, ...others]);
  const item: z.ZodType = z.lazy(() => z.union([widget, z.strictObject({ each: eachSchema, widgets: z.array(item) })]));
  return z.array(item);
}
