// The operations on the widgets of a panel: selecting, adding, moving, resizing, copying, grouping and removing, by pointer and by keys.

import { createMemo, createSignal } from 'solid-js';
import type { Pair } from '../../dashboard/place-items.ts';
import { writeJson5 } from '../editor/json5-text.ts';
import type { Op } from '../editor/source-tree.ts';
import type { Drag, Target } from './canvas.tsx';
import type { Draft } from './draft.ts';
import type { Offer } from './palette.tsx';
import {
  allGrids,
  allItems,
  freePlace,
  type Grid,
  type Item,
  isFree,
  readPath,
  splitPath,
  valueAt,
} from './panel-data.ts';
import { type Kind, type Kinds, newTab } from './widget-kinds.ts';

const arrows: Readonly<Record<string, Pair>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Returns the operations on the widgets of a panel, owned by the calling reactive scope. */
export function useEdits(draft: Draft, kinds: Kinds) {
  const [selected, setSelected] = createSignal<ReadonlySet<string>>(new Set());
  const items = createMemo(() => allItems(draft.grid()));
  const selectedItems = createMemo(() => items().filter(({ key }) => selected().has(key)));
  const gridAt = (list: string): Grid | undefined => allGrids(draft.grid()).find(({ path }) => path === list);
  const gridOfItem = ({ path }: Item) => gridAt(splitPath(path).list);
  const selectPath = (path: string) => setSelected(new Set([`${path} 0`]));

  /** Returns the edits that change the position or size of an item. */
  const placed = (path: string, at: Pair, size: Pair, widget: Item['widget']): Op[] => {
    const isSize = `${size}` !== `${widget.size ?? [1, 1]}`;
    return [
      ...(`${at}` === `${widget.at}` ? [] : [{ path: `${path}.at`, set: at }]),
      ...(!isSize
        ? []
        : `${size}` === '1,1'
          ? [{ path: `${path}.size`, remove: true as const }]
          : [{ path: `${path}.size`, set: size }]),
    ];
  };

  const add = ({ widget }: Offer, list: string, at: Pair, size: Pair) => {
    const grid = gridAt(list);
    if (grid === undefined) return;
    const index = lengthOf(list);
    const isLarge = `${size}` !== '1,1';
    const { widgets, tabs, ...settings } = widget;
    const inner = widgets ? { widgets } : tabs ? { tabs } : undefined;
    const placedWidget = { ...settings, at, ...(isLarge && { size }), ...inner };
    const path = `${list}[${index}]`;
    draft.apply(inner ? inserted(path, placedWidget) : [{ path, insert: placedWidget }]);
    selectPath(path);
  };
  /** Returns the edits that insert a new group or tabs widget as a person would write it, with its widgets on separate lines. */
  const inserted = (path: string, settings: object): Op[] => {
    const [, unit = '  '] = /\n([ \t]+)\S/.exec(draft.text()) ?? [];
    const indent = unit.repeat(path.split('[').length);
    const text = writeJson5(settings)
      .replace(/\[\{ (.*)\[\] \}\] \}$/, `[\n${indent}${unit}{ $1[\n${indent}${unit}] },\n${indent}] }`)
      .replace(/\[\] \}$/, `[\n${indent}] }`);
    return [
      { path, insert: {} },
      { path, text },
    ];
  };
  const lengthOf = (list: string): number => {
    const value = valueAt(draft.data(), readPath(list) ?? []);
    return Array.isArray(value) ? value.length : 0;
  };

  const put = (offer: Offer) => {
    const grid = draft.grid();
    const size: Pair = [Math.min(offer.kind.size[0], grid.columns), offer.kind.size[1]];
    const at = freePlace(grid, size) ?? freePlace(grid, [1, 1]);
    if (at !== undefined) add(offer, 'widgets', at, freePlace(grid, size) === undefined ? [1, 1] : size);
  };

  const moveItem = (item: Item, list: string, at: Pair, size: Pair) => {
    const from = splitPath(item.path);
    if (from.list === list) {
      draft.apply(placed(item.path, at, size, item.widget));
      return;
    }
    const index = lengthOf(list);
    const to = `${afterRemoval(list, item.path)}[${index}]`;
    draft.apply([{ path: item.path, move: to }, ...placed(to, at, size, item.widget)]);
    selectPath(to);
  };

  const nudge = (step: Pair, isResize: boolean) => {
    const chosen = selectedItems().filter(({ made }) => made === 0);
    const keys = chosen.map(({ key }) => key);
    const ops = chosen.flatMap((item) => {
      const grid = gridOfItem(item);
      const sum = ([one, other]: Pair): Pair => [one + step[0], other + step[1]];
      const [at, size] = isResize ? [item.at, sum(item.size)] : [sum(item.at), item.size];
      if (grid === undefined || size[0] < 1 || size[1] < 1 || !isFree(grid, at, size, keys)) return [];
      return placed(item.path, at, size, item.widget);
    });
    draft.apply(ops);
  };

  const remove = () => {
    const paths = [...new Set(selectedItems().map(({ path }) => path))].sort(byPath).toReversed();
    draft.apply(
      paths.filter((path) => !paths.some((one) => path.startsWith(`${one}.`))).map((path) => ({ path, remove: true })),
    );
    setSelected(new Set<string>());
  };

  const copy = () => {
    const ops: Op[] = [];
    const copies: string[] = [];
    let grid = draft.grid();
    for (const item of selectedItems().filter(({ made }) => made === 0)) {
      const { list } = splitPath(item.path);
      const own = allGrids(grid).find(({ path }) => path === list);
      const at = own && freePlace(own, item.size);
      if (own === undefined || at === undefined) continue;
      const path = `${list}[${lengthOf(list) + copies.filter((one) => splitPath(one).list === list).length}]`;
      ops.push({ path, insert: { ...item.widget, at } });
      copies.push(path);
      const added: Item = { ...item, path, key: path, at };
      grid = list === 'widgets' ? { ...grid, items: [...grid.items, added] } : grid;
    }
    draft.apply(ops);
    if (copies.length > 0) setSelected(new Set(copies.map((path) => `${path} 0`)));
  };

  const canGroup = () => {
    const chosen = selectedItems();
    const isSingle = ({ made, inner, tabs, path }: Item) =>
      made === 0 && inner === undefined && tabs === undefined && /^widgets\[\d+\]$/.test(path);
    return kinds.all.some(isGroup) && chosen.length > 0 && chosen.every(isSingle);
  };
  const boxOf = (chosen: readonly Item[]): { readonly at: Pair; readonly size: Pair } => {
    const at: Pair = [Math.min(...chosen.map((item) => item.at[0])), Math.min(...chosen.map((item) => item.at[1]))];
    const end = [0, 1].map((axis) => Math.max(...chosen.map((item) => item.at[axis]! + item.size[axis]!)));
    return { at, size: [end[0]! - at[0], end[1]! - at[1]] };
  };
  /** Returns the reason why the selected widgets cannot become a group, or an empty string if they can. */
  const whyNoGroup = () => {
    const { at, size } = boxOf(selectedItems());
    const isAlone = isFree(
      draft.grid(),
      at,
      size,
      selectedItems().map(({ key }) => key),
    );
    return isAlone ? '' : 'Another widget is between them: move it first.';
  };
  const group = () => {
    if (!canGroup() || whyNoGroup() !== '') return;
    const chosen = selectedItems().toSorted((one, other) => byPath(one.path, other.path));
    const kind = kinds.all.find(isGroup)!;
    const {
      at: [left, top],
      size,
    } = boxOf(chosen);
    // the group comes first, and its widgets move into it with their comments
    const first = splitPath(chosen[0]!.path).index;
    const path = `widgets[${first}]`;
    const ops = inserted(path, { type: kind.type, at: [left, top], size, widgets: [] });
    for (const [number, item] of chosen.entries()) {
      const from = splitPath(item.path).index + 1 - number;
      const to = `${path}.widgets[${number}]`;
      ops.push(
        { path: `widgets[${from}]`, move: to },
        { path: `${to}.at`, set: [item.at[0] - left + 1, item.at[1] - top + 1] },
      );
    }
    draft.apply(ops);
    selectPath(path);
  };
  const ungroup = () => {
    const [item] = selectedItems();
    if (item?.inner === undefined || selectedItems().length > 1) return;
    const { list, index } = splitPath(item.path);
    const isScaled = item.inner.columns !== item.size[0] || item.inner.rows !== item.size[1];
    const ops: Op[] = [];
    for (const [number, child] of item.inner.items.entries()) {
      const to = `${list}[${index + 1 + number}]`;
      const at: Pair = [item.at[0] + child.at[0] - 1, item.at[1] + child.at[1] - 1];
      ops.push({ path: `${item.path}.widgets[0]`, move: to });
      if (!isScaled) ops.push({ path: `${to}.at`, set: at });
      else if (child.widget.at !== undefined) ops.push({ path: `${to}.at`, remove: true });
    }
    draft.apply([...ops, { path: item.path, remove: true }]);
    setSelected(new Set<string>());
  };

  return {
    selected,
    selectedItems,
    add,
    put,
    copy,
    group,
    ungroup,
    canGroup,
    whyNoGroup,
    remove,
    select(item: Item | undefined, isMore: boolean) {
      setSelected((former) => {
        if (item === undefined) return isMore ? former : new Set<string>();
        if (!isMore) return new Set([item.key]);
        const next = new Set(former);
        if (!next.delete(item.key)) next.add(item.key);
        return next;
      });
    },
    drop(drag: Drag, { list, at, size }: Target) {
      const item = items().find(({ key }) => key === drag.key);
      if (item !== undefined) moveItem(item, list, at, drag.kind === 'resize' ? size : item.size);
    },
    /** Sets a setting of a widget, or of the panel if the path is undefined. */
    setting(path: string | undefined, name: string, value: unknown) {
      const at = path === undefined ? name : `${path}.${name}`;
      const item = items().find((one) => one.path === path);
      const values = path === undefined ? draft.data() : item?.widget;
      const isThere = (values as Record<string, unknown> | undefined)?.[name] !== undefined;
      if (value !== undefined) draft.apply([{ path: at, set: value }], at);
      else if (isThere) draft.apply([{ path: at, remove: true }]);
    },
    /** Adds a tab to a widget that has tabs. */
    addTab(item: Item) {
      const count = lengthOf(`${item.path}.tabs`);
      draft.apply(inserted(`${item.path}.tabs[${count}]`, newTab(count + 1)));
    },
    /** Moves a tab to the previous position. */
    moveTab(item: Item, index: number) {
      draft.apply([{ path: `${item.path}.tabs[${index}]`, move: `${item.path}.tabs[${index - 1}]` }]);
    },
    removeTab(item: Item, index: number) {
      draft.apply([{ path: `${item.path}.tabs[${index}]`, remove: true }]);
    },
    nameTab(item: Item, index: number, label: string) {
      const path = `${item.path}.tabs[${index}].label`;
      draft.apply([{ path, set: label }], path);
    },
    /** Handles a key press. Returns whether the studio uses the key. */
    press(event: KeyboardEvent): boolean {
      const isControl = event.ctrlKey || event.metaKey;
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      if (isControl && key === 'z') event.shiftKey ? draft.redo() : draft.undo();
      else if (isControl && key === 'y') draft.redo();
      else if (selectedItems().length === 0) return false;
      else if (isControl && key === 'd') copy();
      else if (isControl && key === 'g') group();
      else if (isControl || event.altKey) return false;
      else if (key === 'Delete' || key === 'Backspace') remove();
      else if (key === 'Escape') setSelected(new Set<string>());
      else if (Object.hasOwn(arrows, key)) nudge(arrows[key]!, event.shiftKey);
      else return false;
      return true;
    },
  };
}

const isGroup = ({ holds }: Kind) => holds === 'widgets';

/** Returns the path of a list after the item at another path was removed. */
function afterRemoval(list: string, removed: string): string {
  const { list: outer, index } = splitPath(removed);
  if (!list.startsWith(`${outer}[`)) return list;
  const [, number = '0', rest = ''] = /^\[(\d+)\](.*)$/.exec(list.slice(outer.length)) ?? [];
  return Number(number) > index ? `${outer}[${Number(number) - 1}]${rest}` : list;
}

function byPath(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}
