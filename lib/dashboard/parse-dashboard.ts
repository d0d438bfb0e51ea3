// Parses a dashboard: its text, every widget by the schema of its type, and the position of each widget. It reports all errors together,
// each with line, column and the nearest name.
import { z } from 'zod';
import { type CheckedFile, formatMistake, type Mistake, MistakeList, type SettingPath } from '../json5/mistake.ts';
import { unknownName } from '../json5/nearest-name.ts';
import { formatPath } from '../json5/positions.ts';
import { Json5Error, readJson5 } from '../json5/read-json5.ts';
import { describe, HubError } from '../model/error.ts';
import { isJsonObject } from '../model/json-object.ts';
import { allowVariables } from '../template/allow-variables.ts';
import { eachSchema } from '../template/each.ts';
import { expand } from '../template/expand.ts';
import { type Dashboard, dashboardSchema, maxWidgets, type WidgetType, widgetSchemas } from './format.ts';
import { type Pair, placeItems } from './place-items.ts';

/** Returns the reason why an address is invalid; undefined if it is valid. */
type WhyUnknown = (address: string, found: () => Omit<NamedAddress, 'address'>) => string | undefined;

/**
 * Parses and checks the text of a file; without `whyUnknown` any address is valid. Errors: `bad-dashboard`, whose message has one line per
 * error.
 */
export function parseDashboard(file: string, text: string, whyUnknown: WhyUnknown = () => undefined): Dashboard {
  const mistakes = new MistakeList();
  const dashboard = read(file, text, mistakes, whyUnknown);
  if (dashboard === undefined || mistakes.items.length > 0)
    throw new HubError('bad-dashboard', mistakes.items.map(formatMistake).join('\n'), { where: file });
  return dashboard;
}

/** An address in a dashboard, and where it was written. */
export interface NamedAddress {
  readonly address: string;
  readonly path: string;
  readonly line: number | undefined;
  readonly column: number | undefined;
  /** Whether the widget writes it. */
  readonly isWritten: boolean;
  /** The widget without its place and size: equal for a widget that was only moved. */
  readonly widget: string;
}

/** The errors of a dashboard, and the addresses in those of its widgets that have none. */
export interface DashboardFindings {
  readonly mistakes: readonly Mistake[];
  readonly addresses: readonly NamedAddress[];
}

/** Parses and checks the text of a file. Any address is valid. */
export function findingsIn(file: string, text: string): DashboardFindings {
  const mistakes = new MistakeList();
  const addresses: NamedAddress[] = [];
  read(file, text, mistakes, (address, found) => {
    addresses.push({ address, ...found() });
    return undefined;
  });
  return { mistakes: mistakes.items, addresses };
}

function read(name: string, text: string, mistakes: MistakeList, whyUnknown: WhyUnknown): Dashboard | undefined {
  try {
    const { data, duplicates, positionOf } = readJson5(text);
    const whole = { name, data, positionOf };
    for (const { path, message, position } of duplicates) mistakes.add(whole, path, message, position);
    const file = expand(whole, text, mistakes);
    const found = mistakes.parse(dashboardSchema, file.data, file, []);
    if (found === undefined) return undefined;
    const { title, columns } = found;
    const check = createCheck(mistakes, file, whyUnknown);
    return { title, columns, ...check(found.widgets, ['widgets'], columns, found.rows, true) } as Dashboard;
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

/** A widget of any type, as returned by its schema. */
type Loose = Record<string, unknown> & { size: Pair; at?: Pair };

/** Returns a function that checks a list of widgets and places each. It counts all widgets of the dashboard. */
function createCheck(mistakes: MistakeList, file: CheckedFile, whyUnknown: WhyUnknown) {
  let count = 0;

  const checkOne = (input: unknown, path: SettingPath, isOuter: boolean): Loose | undefined => {
    count += 1;
    if (count > maxWidgets) {
      if (count === maxWidgets + 1) mistakes.add(file, path, `expected at most ${maxWidgets} widgets, got more`);
      return undefined;
    }
    const known = Object.keys(widgetSchemas).filter((type) => isOuter || type !== 'group');
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
    for (const [key, address, isWritten] of addressesIn(widget, schemaOf(type as WidgetType))) {
      const at = [...path, ...key];
      const found = () => {
        const { line, column } = file.positionOf(at) ?? {};
        const { at: _, size: __, widgets: ___, ...settings } = widget;
        const written = file.writtenAt?.(at).path ?? at;
        return { path: formatPath(written), line, column, isWritten, widget: JSON.stringify(settings) };
      };
      const message = whyUnknown(address, found);
      if (message !== undefined) mistakes.add(file, at, message);
    }
    if (widget.type !== 'group') return widget;
    const columns = (widget.columns as number | undefined) ?? widget.size[0];
    const rows = (widget.rows as number | undefined) ?? widget.size[1];
    return { ...widget, columns, ...check(widget.widgets as unknown[], [...path, 'widgets'], columns, rows, false) };
  };

  const check = (
    inputs: readonly unknown[],
    path: SettingPath,
    columns: number,
    rows: number | undefined,
    isOuter: boolean,
  ): Grid => {
    const checked = inputs.map((input, index) => checkOne(input, [...path, index], isOuter));
    const indexes = [...checked.keys()].filter((index) => checked[index] !== undefined);
    const widgets = indexes.map((index) => checked[index]!);
    const placed = placeItems(widgets, columns, rows);
    for (const { index, message } of placed.mistakes) {
      const key = widgets[index]!.at === undefined ? 'size' : 'at';
      mistakes.add(file, [...path, indexes[index]!, key], message);
    }
    return { rows: placed.rows, widgets: widgets.map((widget, index) => ({ ...widget, at: placed.at[index]! })) };
  };
  return check;
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

/** Yields the addresses in a value, with their paths, and whether the widget writes them. The schema marks them. */
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

/** Finds contradictory settings within a widget, which a schema cannot express. */
function* mistakesIn(widget: Loose): Generator<{ key: string; text: string }> {
  const { type, mode, value, min, max } = widget;
  if (type === 'button' && mode === 'set' && value === undefined)
    yield { key: 'mode', text: 'expected a setting value for mode "set", got none' };
  if (type === 'button' && mode !== 'set' && value !== undefined)
    yield { key: 'value', text: `expected mode "set" for this setting, got ${describe(mode)}` };
  if (typeof min === 'number' && typeof max === 'number' && min >= max)
    yield { key: 'max', text: `expected a number above min, ${min}, got ${describe(max)}` };
}

// The JSON Schema, with which editors complete and check dashboards.

const each = { each: eachSchema.optional() };

/** Returns the JSON Schema of dashboards, for editors: widgets, and the keys that templates add. */
export function dashboardJsonSchema(): object {
  const { group, ...single } = widgetSchemas;
  const singles = Object.values(single).map((schema) => (schema as z.ZodObject).extend(each));
  const within = listOf(singles);
  const widgets = listOf([...singles, group.extend({ ...each, widgets: within })]);
  const schema = dashboardSchema.extend({ widgets });
  return allowVariables(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
}

/** A list of widgets and of repeated lists of widgets. */
function listOf(schemas: readonly z.ZodObject[]): z.ZodType {
  const [first, ...others] = schemas;
  const widget = z.discriminatedUnion('type', [first!, ...others]);
  const item: z.ZodType = z.lazy(() => z.union([widget, z.strictObject({ each: eachSchema, widgets: z.array(item) })]));
  return z.array(item);
}
