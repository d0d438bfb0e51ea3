// Parses a dashboard: its text, every widget by the schema of its type, and the position of each widget. It reports all errors together,
// each with line, column and the nearest name.
import { z } from 'zod';
import { type CheckedFile, formatMistake, MistakeList, type SettingPath } from '../json5/mistake.ts';
import { unknownName } from '../json5/nearest-name.ts';
import { Json5Error, readJson5 } from '../json5/read-json5.ts';
import { counted } from '../model/digits.ts';
import { describe, HubError } from '../model/error.ts';
import { isJsonObject } from '../model/json-object.ts';
import { allowVariables } from '../template/allow-variables.ts';
import { eachSchema } from '../template/each.ts';
import { expand } from '../template/expand.ts';
import {
  type Dashboard,
  dashboardSchema,
  maxLines,
  maxWidgets,
  type Pair,
  type WidgetType,
  widgetSchemas,
} from './format.ts';

/** Returns the reason why an address is invalid; undefined if it is valid. */
type WhyUnknown = (address: string) => string | undefined;

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
    for (const [key, address] of addressesIn(widget)) {
      const message = whyUnknown(address);
      if (message !== undefined) mistakes.add(file, [...path, ...key], message);
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

/** Returns the addresses in a widget, with their paths. */
function addressesIn({ address, lamp, addresses = [] }: Loose): [SettingPath, string][] {
  const single = Object.entries({ address, lamp }).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return [
    ...single.map(([key, one]): [SettingPath, string] => [[key], one]),
    ...(addresses as string[]).map((one, index): [SettingPath, string] => [['addresses', index], one]),
  ];
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

// Positions on a grid. A widget with `at` takes that position. Other widgets take the first free one, row by row.

interface Placed {
  /** [column, row] of each item, from 1; [1, 1] if no place was free. */
  readonly at: readonly Pair[];
  /** The number of rows that the grid has, or needs. */
  readonly rows: number;
  /** The errors, by index of the item. */
  readonly mistakes: readonly { readonly index: number; readonly message: string }[];
}

interface Item {
  readonly at?: Pair | undefined;
  readonly size: Pair;
}

/** Places all items. Without `rows`, the grid becomes as high as needed. */
function placeItems(items: readonly Item[], columns: number, rows: number | undefined): Placed {
  const highest = rows ?? maxLines;
  const taken = new Map<number, number>(); // cell → index of the item; bounded by the cells of a grid
  const cells = function* ([column, row]: Pair, [width, height]: Pair) {
    for (let y = row; y < row + height; y++) for (let x = column; x < column + width; x++) yield y * (maxLines + 1) + x;
  };
  const isInside = ([column, row]: Pair, [width, height]: Pair) =>
    column + width - 1 <= columns && row + height - 1 <= highest;
  const inTheWay = (at: Pair, size: Pair) => {
    for (const cell of cells(at, size)) if (taken.has(cell)) return taken.get(cell);
    return undefined;
  };
  const firstFree = (size: Pair): Pair | undefined => {
    for (let row = 1; row <= highest; row++)
      for (let column = 1; column <= columns; column++) {
        const at: Pair = [column, row];
        if (isInside(at, size) && inTheWay(at, size) === undefined) return at;
      }
    return undefined;
  };

  const at: Pair[] = items.map((item) => item.at ?? [1, 1]);
  const mistakes: { index: number; message: string }[] = [];
  let needed = 1;
  const take = (index: number, place: Pair, size: Pair) => {
    at[index] = place;
    needed = Math.max(needed, place[1] + size[1] - 1);
    for (const cell of cells(place, size)) taken.set(cell, index);
  };
  const grid = `grid of ${counted(columns, 'column')} and ${counted(highest, 'row')}`;

  for (const [index, { at: place, size }] of items.entries()) {
    if (place === undefined) continue;
    const other = inTheWay(place, size);
    if (!isInside(place, size))
      mistakes.push({
        index,
        message: `expected a place within the ${grid}, got ${format(place)}, ${size.join('×')} large`,
      });
    else if (other !== undefined)
      mistakes.push({ index, message: `expected a free place, got ${format(place)}, where widgets[${other}] is` });
    else take(index, place, size);
  }
  for (const [index, { at: place, size }] of items.entries()) {
    if (place !== undefined) continue;
    const free = firstFree(size);
    if (free === undefined)
      mistakes.push({ index, message: `expected a size that fits on the ${grid}, got ${format(size)}` });
    else take(index, free, size);
  }
  return { at, rows: rows ?? needed, mistakes };
}

function format([first, second]: Pair): string {
  return `[${first}, ${second}]`;
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
