// Compares two texts by lines, and merges two edits of a text. The merge works by lines, and then checks that all items have the values
// that the two edits gave them.

import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../model/json-object.ts';
import { editJson5 } from './edit-json5.ts';
import { formatPath, type Path } from './positions.ts';
import { parseJson5 } from './read-json5.ts';

/** A difference between two texts: lines `start` to `end` in the first text were replaced with lines `from` to `to` in the second text. */
interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
}

/** The maximum number of steps in the search for the shortest difference. Beyond this number, a single hunk comprises all changes. */
const maxSteps = 2000;

function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Returns the differences between two lists of lines, using the Myers algorithm (without the variant that saves memory). */
function hunksOf(before: readonly string[], after: readonly string[]): Hunk[] {
  let first = 0;
  while (first < before.length && first < after.length && before[first] === after[first]) first++;
  let last = 0;
  const least = Math.min(before.length, after.length) - first;
  while (last < least && before.at(-1 - last) === after.at(-1 - last)) last++;
  const one = before.slice(first, before.length - last);
  const other = after.slice(first, after.length - last);
  return stepsOf(one, other).map(({ start, end, from, to }) => ({
    start: start + first,
    end: end + first,
    from: from + first,
    to: to + first,
  }));
}

function stepsOf(one: readonly string[], other: readonly string[]): Hunk[] {
  if (one.length + other.length === 0) return [];
  const whole = [{ start: 0, end: one.length, from: 0, to: other.length }];
  if (one.length === 0 || other.length === 0) return whole;
  const furthest = new Map([[1, 0]]);
  const traces: Map<number, number>[] = [];
  for (let steps = 0; steps <= Math.min(maxSteps, one.length + other.length); steps++) {
    traces.push(new Map(furthest));
    for (let diagonal = -steps; diagonal <= steps; diagonal += 2) {
      const [left, right] = [furthest.get(diagonal - 1) ?? -1, furthest.get(diagonal + 1) ?? -1];
      let x = diagonal === -steps || (diagonal !== steps && left < right) ? right : left + 1;
      while (x < one.length && x - diagonal < other.length && one[x] === other[x - diagonal]) x++;
      furthest.set(diagonal, x);
      if (x >= one.length && x - diagonal >= other.length) return pathOf(traces, one.length, other.length);
    }
  }
  return whole;
}

/** Follows the traces of the search backwards, and combines single steps into hunks. */
function pathOf(traces: readonly ReadonlyMap<number, number>[], length: number, otherLength: number): Hunk[] {
  let [x, y] = [length, otherLength];
  const hunks: Hunk[] = [];
  for (let steps = traces.length - 1; steps > 0; steps--) {
    const furthest = traces[steps]!;
    const diagonal = x - y;
    const [left, right] = [furthest.get(diagonal - 1) ?? -1, furthest.get(diagonal + 1) ?? -1];
    const isDown = diagonal === -steps || (diagonal !== steps && left < right);
    const fromX = isDown ? right : left;
    const fromY = fromX - (isDown ? diagonal + 1 : diagonal - 1);
    const step = isDown
      ? { start: fromX, end: fromX, from: fromY, to: fromY + 1 }
      : { start: fromX, end: fromX + 1, from: fromY, to: fromY };
    const next = hunks[0];
    if (next !== undefined && next.start === step.end && next.from === step.to)
      hunks[0] = { start: step.start, end: next.end, from: step.from, to: next.to };
    else hunks.unshift(step);
    [x, y] = [fromX, fromY];
  }
  return hunks;
}

/** The number of unchanged lines that are shown around changed lines. */
const context = 3;

/**
 * Returns the difference between two texts in the unified diff format, without the two lines that contain the file names. Returns an empty
 * string if the texts are equal.
 */
export function differenceOf(before: string, after: string): string {
  const [one, other] = [linesOf(before), linesOf(after)];
  const groups: Hunk[][] = [];
  for (const hunk of hunksOf(one, other)) {
    const last = groups.at(-1)?.at(-1);
    if (last !== undefined && hunk.start - last.end <= 2 * context) groups.at(-1)!.push(hunk);
    else groups.push([hunk]);
  }
  const line = (mark: string, text: string) => mark + text.replace(/\r?\n$/, '');
  return groups
    .map((hunks) => {
      const [first, last] = [hunks[0]!, hunks.at(-1)!];
      const [start, end] = [Math.max(0, first.start - context), Math.min(one.length, last.end + context)];
      const [from, to] = [first.from - (first.start - start), last.to + (end - last.end)];
      const lines: string[] = [];
      let at = start;
      for (const hunk of hunks) {
        lines.push(...one.slice(at, hunk.start).map((text) => line(' ', text)));
        lines.push(...one.slice(hunk.start, hunk.end).map((text) => line('-', text)));
        lines.push(...other.slice(hunk.from, hunk.to).map((text) => line('+', text)));
        at = hunk.end;
      }
      lines.push(...one.slice(at, end).map((text) => line(' ', text)));
      return `@@ -${start + 1},${end - start} +${from + 1},${to - from} @@\n${lines.join('\n')}\n`;
    })
    .join('');
}

/** Merges two edits of the text `base`. Returns undefined if the edits overlap. All three texts must be valid JSON5. */
export function mergeTexts(base: string, yours: string, theirs: string): string | undefined {
  if (base === theirs || yours === theirs) return yours;
  if (base === yours) return theirs;
  const [before, own, other] = [base, yours, theirs].map((text) => itemsOf(parseJson5(text))) as [Items, Items, Items];
  const meant = mergeItems(before, own, other);
  if (meant === undefined) return undefined;
  const merged = mergeLines(base, yours, theirs) ?? mergeByItems({ base, yours, theirs }, before, own);
  return merged !== undefined && hasItems(merged, meant) ? merged : undefined;
}

function mergeLines(base: string, yours: string, theirs: string): string | undefined {
  const lines = linesOf(base);
  const [own, other] = [linesOf(yours), linesOf(theirs)];
  const all = [
    ...hunksOf(lines, own).map((hunk) => ({ ...hunk, text: own.slice(hunk.from, hunk.to) })),
    ...hunksOf(lines, other).map((hunk) => ({ ...hunk, text: other.slice(hunk.from, hunk.to) })),
  ].sort((a, b) => a.start - b.start || a.end - b.end);
  const merged: string[] = [];
  let at = 0;
  let last: (typeof all)[number] | undefined;
  for (const hunk of all) {
    const isSame = last?.start === hunk.start && last.end === hunk.end && isDeepStrictEqual(last.text, hunk.text);
    if (isSame) continue;
    if (last !== undefined && (hunk.start < last.end || hunk.start === last.start)) return undefined;
    merged.push(...lines.slice(at, hunk.start), ...hunk.text);
    at = hunk.end;
    last = hunk;
  }
  return [...merged, ...lines.slice(at)].join('');
}

// The items that a merge compares: connections by ID, rules by the names of their folders and their own names, tests by name, and all other
// settings by key.

interface Item {
  readonly value: unknown;
  readonly path: Path;
}

type Items = ReadonlyMap<string, Item>;

/** Returns the items in a flow file's data. List items without a name are identified by their content, and equal items by a number. */
function itemsOf(data: unknown): Items {
  const items = new Map<string, Item>();
  const add = (key: string, value: unknown, path: Path) => {
    let free = key;
    for (let number = 2; items.has(free); number++) free = `${key} #${number}`;
    items.set(free, { value, path });
  };
  const addList = (key: string, list: readonly unknown[], path: Path) => {
    for (const [index, one] of list.entries()) {
      const at = [...path, index];
      const { folder, rules, name } = (isJsonObject(one) ? one : {}) as Record<string, unknown>;
      if (Array.isArray(rules)) {
        const title = `${key}/${String(folder ?? '')}`;
        const { rules: _, ...settings } = one as Record<string, unknown>;
        add(`${title} settings`, settings, at);
        addList(title, rules, [...at, 'rules']);
      } else add(typeof name === 'string' ? `${key}: ${name}` : `${key}: ${JSON.stringify(one)}`, one, at);
    }
  };
  if (!isJsonObject(data)) return new Map([['', { value: data, path: [] }]]);
  for (const [key, value] of Object.entries(data)) {
    if ((key === 'rules' || key === 'tests' || key === 'widgets') && Array.isArray(value)) addList(key, value, [key]);
    else if ((key === 'connections' || key === 'describe') && isJsonObject(value))
      for (const [name, one] of Object.entries(value)) add(`${key}.${name}`, one, [key, name]);
    else add(key, value, [key]);
  }
  return items;
}

/** Returns the values of the items after both edits, or undefined if the edits give an item different values. */
function mergeItems(before: Items, own: Items, other: Items): ReadonlyMap<string, unknown> | undefined {
  const merged = new Map<string, unknown>();
  for (const key of new Set([...before.keys(), ...own.keys(), ...other.keys()])) {
    const [was, mine, theirs] = [before.get(key)?.value, own.get(key)?.value, other.get(key)?.value];
    const isMine = !isDeepStrictEqual(was, mine);
    if (isMine && !isDeepStrictEqual(was, theirs) && !isDeepStrictEqual(mine, theirs)) return undefined;
    const value = isMine ? mine : theirs;
    if (value !== undefined) merged.set(key, value);
  }
  return merged;
}

function hasItems(text: string, meant: ReadonlyMap<string, unknown>): boolean {
  try {
    const items = itemsOf(parseJson5(text));
    return (
      items.size === meant.size && [...meant].every(([key, value]) => isDeepStrictEqual(items.get(key)?.value, value))
    );
  } catch {
    return false;
  }
}

interface Versions {
  readonly base: string;
  readonly yours: string;
  readonly theirs: string;
}

/**
 * Applies the items that your edit has changed to the other text. Returns undefined if your edit has also changed the order, or if an item
 * does not fit.
 */
function mergeByItems({ yours, theirs }: Versions, before: Items, own: Items): string | undefined {
  const kept = (items: Items, others: Items) => [...items.keys()].filter((key) => others.has(key));
  if (!isDeepStrictEqual(kept(before, own), kept(own, before))) return undefined;
  let text = theirs;
  const edit = (op: Parameters<typeof editJson5>[1][number]) => {
    text = editJson5(text, [op]).text;
  };
  try {
    for (const key of before.keys()) {
      const [at, now] = [itemsOf(parseJson5(text)).get(key), own.get(key)];
      if (now === undefined && at !== undefined) edit({ path: formatPath(at.path), remove: true });
      else if (at !== undefined && now !== undefined && !isDeepStrictEqual(before.get(key)!.value, now.value))
        edit({ path: formatPath(at.path), set: withRules(parseJson5(text), at.path, now.value) });
    }
    const keys = [...own.keys()];
    for (const [index, key] of keys.entries()) {
      if (before.has(key) || itemsOf(parseJson5(text)).has(key)) continue;
      const { path, value } = own.get(key)!;
      const previous = itemsOf(parseJson5(text)).get(keys[index - 1] ?? '')?.path;
      const place = previous === undefined ? path : placeAfter(previous, path);
      edit({ path: formatPath(place), insert: withRules(parseJson5(yours), path, value) });
    }
    return text;
  } catch {
    return undefined; // the other edit has put another item at this path
  }
}

/** Returns `value`, which contains the settings of a folder, together with the rules that this folder contains in `data`. */
function withRules(data: unknown, path: Path, value: unknown): unknown {
  const found = path.reduce<unknown>((at, part) => (at as Record<string | number, unknown>)?.[part], data);
  const { rules } = (isJsonObject(found) ? found : {}) as Record<string, unknown>;
  return Array.isArray(rules) && isJsonObject(value) && !('rules' in value) ? { ...value, rules } : value;
}

/** Returns the path after the previous item in the same list, or `path` itself if the previous item is elsewhere. */
function placeAfter(previous: Path, path: Path): Path {
  const index = previous.at(-1);
  const isBeside = previous.length === path.length && previous.slice(0, -1).every((part, at) => part === path[at]);
  return isBeside && typeof index === 'number' && typeof path.at(-1) === 'number'
    ? [...previous.slice(0, -1), index + 1]
    : path;
}
