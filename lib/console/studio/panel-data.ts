// The data of a panel that is being edited: the result of the edits, and the widgets as drawn, each with its location in the file.

import { maxLines, type Pair, placeItems } from '../../dashboard/place-items.ts';
import { readJson5 } from '../editor/json5-text.ts';
import type { Op } from '../editor/source-tree.ts';
import { combinationsOf, expand } from '../editor/templates.ts';
import type { Widget } from './widget-kinds.ts';

export interface PanelData {
  readonly title?: unknown;
  readonly columns?: unknown;
  readonly rows?: unknown;
  readonly widgets?: unknown;
}

/** A list of widgets that are placed on a grid. */
export interface Grid {
  /** The path of the list in the file. */
  readonly path: string;
  readonly columns: number;
  /** The number of rows that the grid has or needs. */
  readonly rows: number;
  /** Whether the grid grows with its widgets, because the file does not set the number of rows. */
  readonly isOpen: boolean;
  readonly items: readonly Item[];
}

/** A widget that is drawn on a grid. */
export interface Item {
  /** The path of the item in the file. Widgets created by the same `each` have the same path. */
  readonly path: string;
  readonly key: string;
  /** The widget as written in the file. */
  readonly widget: Widget;
  /** The widget as shown, with the variables in `each` replaced. */
  readonly shown: Widget;
  readonly at: Pair;
  readonly size: Pair;
  /** The number of widgets that the item in the file creates; 0 if the item has no `each`. */
  readonly made: number;
  /** The grid of a group; undefined for any other widget. */
  readonly inner?: Grid;
  /** The pages of a tabs widget; undefined for any other widget. */
  readonly tabs?: readonly Tab[];
}

export interface Tab {
  readonly label: string;
  readonly grid: Grid;
}

const defaultColumns = 6;
const maxMade = 500;

function countOf(value: unknown, fallback: number): number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= maxLines ? value : fallback;
}

function pairOf(value: unknown): Pair | undefined {
  if (!Array.isArray(value) || value.length !== 2) return undefined;
  const [first, second] = value.map((one) => countOf(one, 0)) as [number, number];
  return first > 0 && second > 0 ? [first, second] : undefined;
}

export function isObject(value: unknown): value is Widget {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns a setting as a string, or `fallback` if the setting is neither a string nor a number. */
export function textOf(value: unknown, fallback = ''): string {
  return (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : fallback;
}

/** Returns the outermost grid of a panel, with its widgets placed. */
export function gridOf(data: PanelData): Grid {
  const rows = data.rows === undefined ? undefined : countOf(data.rows, maxLines);
  return createGrid(listOf(data.widgets), 'widgets', countOf(data.columns, defaultColumns), rows, {});
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

interface Placed extends Omit<Item, 'at' | 'size' | 'inner' | 'tabs'> {
  readonly variables: Readonly<Record<string, unknown>>;
}

function createGrid(
  list: readonly unknown[],
  path: string,
  columns: number,
  rows: number | undefined,
  variables: Readonly<Record<string, unknown>>,
  copies = 0,
): Grid {
  const items = [...made(list, path, variables, copies)].slice(0, maxMade);
  const sizes = items.map(({ shown }) => ({ at: pairOf(shown.at), size: pairOf(shown.size) ?? ([1, 1] as Pair) }));
  const placed = placeItems(sizes, columns, rows);
  return {
    path,
    columns,
    rows: placed.rows,
    isOpen: rows === undefined,
    items: items.map(({ variables: own, ...item }, index): Item => {
      const size = sizes[index]!.size;
      const { shown } = item;
      const at = placed.at[index]!;
      const page = ({ widgets, columns: wide, rows: high }: Widget, where: string, variables = own, copies = 0) =>
        createGrid(
          listOf(widgets),
          `${where}.widgets`,
          countOf(wide, size[0]),
          countOf(high, size[1]),
          variables,
          copies,
        );
      if (Array.isArray(shown.widgets)) return { ...item, at, size, inner: page(shown, item.path) };
      if (!Array.isArray(shown.tabs)) return { ...item, at, size };
      const tabs = shown.tabs.flatMap((tab: unknown, number): Tab[] => {
        if (!isObject(tab)) return [];
        const copies = copiesOf(tab, own);
        return copies.map((variables) => {
          const label = textOf(expandAll(tab.label, variables));
          const grid = page(tab, `${item.path}.tabs[${number}]`, variables, tab.each === undefined ? 0 : copies.length);
          return { label, grid };
        });
      });
      return { ...item, at, size, tabs };
    }),
  };
}

/** Returns the variables of each copy that `each` creates from an item. Without `each`, the item is the only copy. */
function copiesOf({ each }: Widget, variables: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>[] {
  if (each === undefined) return [variables];
  return combinationsOf(expandAll(each, variables)).map((one) => ({ ...variables, ...one }));
}

function* made(
  list: readonly unknown[],
  path: string,
  variables: Readonly<Record<string, unknown>>,
  count: number,
): Generator<Placed> {
  for (const [index, widget] of list.entries()) {
    if (!isObject(widget)) continue;
    const at = `${path}[${index}]`;
    const all = copiesOf(widget, variables);
    const makes = widget.each === undefined ? count : all.length;
    for (const [number, own] of all.entries()) {
      if (widget.type === undefined && Array.isArray(widget.widgets)) {
        for (const item of made(widget.widgets, `${at}.widgets`, own, makes))
          yield { ...item, key: `${number} ${item.key}` };
        continue;
      }
      const { each: _, ...plain } = widget;
      const shown = makes === 0 ? plain : (expandAll(plain, own) as Widget);
      yield { path: at, key: `${at} ${number}`, widget, shown, made: makes, variables: own };
    }
  }
}

function expandAll(value: unknown, variables: Readonly<Record<string, unknown>>): unknown {
  if (typeof value === 'string') return expand(value, variables);
  if (Array.isArray(value)) return value.map((one) => expandAll(one, variables));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, expandAll(one, variables)]));
}

/** Returns the grids directly within an item: the grid of a group, or the grids of tabs. */
function gridsIn({ inner, tabs = [] }: Item): Grid[] {
  return inner ? [inner] : tabs.map(({ grid }) => grid);
}

/** Returns all items in a grid, including the items in its groups and tabs. */
export function allItems({ items }: Grid): Item[] {
  return items.flatMap((item) => [item, ...gridsIn(item).flatMap(allItems)]);
}

/** Returns the grids of a panel: the outer grid and the grids of groups and tabs. */
export function allGrids(grid: Grid): Grid[] {
  return [grid, ...grid.items.flatMap((item) => gridsIn(item).flatMap(allGrids))];
}

/** Returns whether a position on a grid is free for a widget of this size, not counting the excluded items. */
export function isFree(grid: Grid, at: Pair, size: Pair, except: readonly string[] = []): boolean {
  const highest = grid.isOpen ? maxLines : grid.rows;
  if (at[0] < 1 || at[1] < 1 || at[0] + size[0] - 1 > grid.columns || at[1] + size[1] - 1 > highest) return false;
  return grid.items.every(
    (item) =>
      except.includes(item.key) ||
      item.at[0] + item.size[0] <= at[0] ||
      at[0] + size[0] <= item.at[0] ||
      item.at[1] + item.size[1] <= at[1] ||
      at[1] + size[1] <= item.at[1],
  );
}

/** Returns the first free position for a widget of this size, or undefined if the grid is full. */
export function freePlace(grid: Grid, size: Pair): Pair | undefined {
  const highest = grid.isOpen ? maxLines : grid.rows;
  for (let row = 1; row <= highest; row++)
    for (let column = 1; column <= grid.columns; column++) if (isFree(grid, [column, row], size)) return [column, row];
  return undefined;
}

/** Returns the edits that keep widgets that have no position of their own where they were before other widgets moved. */
export function pinned(before: Grid, after: Grid): Op[] {
  const now = new Map(allItems(after).map((item) => [item.widget, item]));
  return allItems(before).flatMap((item): Op[] => {
    const next = now.get(item.widget);
    if (next === undefined || item.made > 0 || item.widget.at !== undefined || `${next.at}` === `${item.at}`) return [];
    return [{ path: `${next.path}.at`, set: item.at }];
  });
}

/** Splits the path of an item into the path of its list and its index in the list. */
export function splitPath(path: string): { readonly list: string; readonly index: number } {
  const [, list = '', index = '0'] = /^(.*)\[(\d+)\]$/.exec(path) ?? [];
  return { list, index: Number(index) };
}

type Path = readonly (string | number)[];

/** Parses a path such as `widgets[3].texts["a b"]`. Returns undefined for any other string. */
export function readPath(text: string): Path | undefined {
  const path: (string | number)[] = [];
  const part = /\.?([A-Za-z_$][\w$]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;
  while (part.lastIndex < text.length) {
    const match = part.exec(text);
    if (match === null) return undefined;
    const [, name, index, quoted] = match;
    path.push(name ?? (index === undefined ? (JSON.parse(quoted!) as string) : Number(index)));
  }
  return path;
}

/** Applies edits to the data of a panel. An edit that does not fit is ignored here, because the hub reports the error. */
export function applyOps(data: unknown, ops: readonly Op[]): unknown {
  return ops.reduce((now, op) => {
    const path = readPath(op.path);
    if (path === undefined) return now;
    if ('move' in op) {
      const to = readPath(op.move);
      const value = valueAt(now, path);
      if (to === undefined || value === undefined) return now;
      return change(change(now, path, 'remove', undefined), to, 'insert', value);
    }
    if ('remove' in op) return change(now, path, 'remove', undefined);
    if ('insert' in op) return change(now, path, 'insert', op.insert);
    if ('set' in op) return change(now, path, 'set', op.set);
    const typed = readJson5(op.text);
    if (typed === undefined) return now;
    const list = valueAt(now, path.slice(0, -1));
    const isNew = Array.isArray(list) && typeof path.at(-1) === 'number' && Number(path.at(-1)) >= list.length;
    return change(now, path, isNew ? 'insert' : 'set', typed);
  }, data);
}

export function valueAt(data: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, part) => (at as Record<string | number, unknown> | undefined)?.[part], data);
}

function change(data: unknown, path: Path, kind: 'set' | 'insert' | 'remove', value: unknown): unknown {
  const [part, ...rest] = path;
  if (part === undefined) return kind === 'set' ? value : data;
  if (Array.isArray(data) && typeof part === 'number') {
    if (rest.length > 0) return data.with(part, change(data[part], rest, kind, value));
    if (kind === 'insert') return data.toSpliced(part, 0, value);
    return kind === 'remove' ? data.toSpliced(part, 1) : data.with(part, value);
  }
  if (!isObject(data)) return data;
  if (rest.length > 0) return { ...data, [part]: change(data[part], rest, kind, value) };
  if (kind !== 'remove') return { ...data, [part]: value };
  return Object.fromEntries(Object.entries(data).filter(([key]) => key !== part));
}
