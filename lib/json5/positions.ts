// Finds the line and column of a path in a JSON5 text. The text has already been parsed, so this grammar can be lenient.
import { KeptText } from './kept-text.ts';
import { endOfString } from './to-json.ts';

// An index of the text for many look-ups, such as the positions of 5,000 tests: the starts of the lines, and of the items in the lists of
// the outermost object. The index also contains the duplicate keys.

export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A path within data, which consists of object keys and list indexes. */
export type Path = readonly (string | number)[];

/** Formats a path: `rules[3].map`, `describe["desk/lamp"]`. */
export function formatPath(path: Path): string {
  return path
    .map((part) => {
      if (typeof part === 'number') return `[${part}]`;
      return /^[\w-]+$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`;
    })
    .join('')
    .replace(/^\./, '');
}

const pathPart = /(?:^|\.)([^.[\]"\s]+)|\[(\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\]/y;

/** Parses a path in the form written by `formatPath`. Returns undefined for any other string. */
export function parsePath(text: string): Path | undefined {
  const path: (string | number)[] = [];
  pathPart.lastIndex = 0;
  while (pathPart.lastIndex < text.length) {
    const match = pathPart.exec(text);
    if (match === null) return undefined;
    const [, name, index, quoted] = match;
    if (quoted === undefined) path.push(name ?? Number(index));
    else
      try {
        path.push(JSON.parse(quoted) as string);
      } catch {
        return undefined;
      }
  }
  return path;
}

/** A key of an object, or an item in a list, during a walk through a text. */
interface Visited {
  /** The length of the path to the key or item. */
  readonly depth: number;
  /** Returns the path to the key or item. This is a function, because creating the path costs more than the visit. */
  readonly path: () => Path;
  readonly offset: number;
  /** Whether the same key has already occurred in the object. */
  readonly isSecond: boolean;
}

/** Visits all keys and list items in a text, or in the value at offset `start`, until `visit` returns false. */
type Walk = (visit: (visited: Visited) => boolean, start?: number) => void;

/** The offset of an item, and the offsets of the list items within it, keyed by their joined paths. */
interface ItemsWithin {
  readonly item: number;
  readonly offsets: ReadonlyMap<string, number>;
}

/** The places that one walk through a text has found. */
interface FoundPlaces {
  /** The offsets of the items in each list in the outermost object, keyed by the list's key. For a duplicate key, the first list counts. */
  readonly items: ReadonlyMap<string | number, readonly number[]>;
  /** The offsets of the items, if the outermost value is a list. */
  readonly ownItems: readonly number[];
  /** The keys that occur a second time in the same object. */
  readonly duplicates: readonly { readonly path: Path; readonly offset: number }[];
}

/** A range of adjacent items in a list. */
interface ItemRange {
  readonly list: string;
  readonly first: number;
  readonly count: number;
  /** The offset of the first item in the range. */
  readonly start: number;
  /** The offset of the item after the range; undefined if the range contains the last item. */
  readonly end: number | undefined;
}

export class KnownPlaces {
  readonly #source: KeptText;
  readonly #walk: Walk;
  #lines: number[] | undefined;
  #found: FoundPlaces | undefined;
  /** The item within which an item was last searched for, such as a folder with thousands of rules. */
  #within: ItemsWithin | undefined;

  /** `found` is the result of a walk through the text, if the caller already has it. */
  constructor(source: KeptText, walk: Walk, found?: FoundPlaces) {
    this.#source = source;
    this.#walk = walk;
    this.#found = found;
  }

  /** Returns the line and column of an offset in the text. */
  positionAt(offset: number): Position {
    this.#lines ??= linesOf(this.#source.text);
    const line = lastUpTo(this.#lines, offset);
    return { line: line + 1, column: offset - this.#lines[line]! + 1 };
  }

  /** Returns the offset of an item, as in `itemAt('tests', 2)`, or undefined if there is no such item. */
  itemAt(list: string | number | undefined, index: string | number | undefined): number | undefined {
    if (list === undefined || typeof index !== 'number') return undefined;
    return this.found.items.get(list)?.[index];
  }

  /**
   * Returns the offset of a list item within the item at an offset, as in `itemWithin(at, ['rules', 3])`, or undefined if there is no such
   * item.
   */
  itemWithin(item: number, path: Path): number | undefined {
    if (this.#within?.item !== item) this.#within = { item, offsets: this.#lookWithin(item) };
    return this.#within.offsets.get(path.join('\n'));
  }

  get found(): FoundPlaces {
    this.#found ??= this.#look();
    return this.#found;
  }

  /** Returns the items that may contain a change of the text, or undefined if the change is before all items. */
  itemsAround(change: { readonly start: number; readonly end: number }): ItemRange | undefined {
    let range: ItemRange | undefined;
    for (const [list, offsets] of this.found.items) {
      const start = offsets[0] ?? Number.POSITIVE_INFINITY;
      if (typeof list !== 'string' || start > change.start || (range !== undefined && start < range.start)) continue;
      const first = lastUpTo(offsets, change.start);
      const behind = Math.max(first, lastUpTo(offsets, change.end - 1)) + 1;
      range = { list, first, count: behind - first, start: offsets[first]!, end: offsets[behind] };
    }
    return range;
  }

  /** Returns the places in a text after a range of items was replaced with items at `offsets`. Later offsets move by `moved`. */
  foundAfter({ list, first, count, start }: ItemRange, offsets: readonly number[], moved: number): FoundPlaces {
    const shift = (those: readonly number[]) => those.map((offset) => offset + moved);
    const items = new Map<string | number, readonly number[]>();
    for (const [key, those] of this.found.items)
      if (key === list) items.set(key, [...those.slice(0, first), ...offsets, ...shift(those.slice(first + count))]);
      else items.set(key, those[0]! > start ? shift(those) : those);
    return { ...this.found, items };
  }

  #lookWithin(item: number): ReadonlyMap<string, number> {
    const offsets = new Map<string, number>();
    this.#walk(({ path, offset }) => {
      const those = path();
      if (typeof those.at(-1) === 'number') offsets.set(those.join('\n'), offset);
      return true;
    }, item);
    return offsets;
  }

  #look(): FoundPlaces {
    const items = new Map<string | number, number[]>();
    const ownItems: number[] = [];
    const duplicates: { path: Path; offset: number }[] = [];
    this.#walk(({ depth, path, offset, isSecond }) => {
      if (isSecond) duplicates.push({ path: path(), offset });
      if (depth > 2) return true;
      const [list, index] = path();
      if (depth === 1 && typeof list === 'number') ownItems.push(offset);
      if (depth !== 2 || typeof index !== 'number') return true;
      const offsets = items.get(list!) ?? [];
      offsets[index] ??= offset;
      items.set(list!, offsets);
      return true;
    });
    return { items, ownItems, duplicates };
  }
}

/**
 * Returns the index of the last offset that is at most `limit`. The offsets are in ascending order, and the first offset is always at most
 * `limit`.
 */
function lastUpTo(offsets: readonly number[], limit: number): number {
  let [low, high] = [0, offsets.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (offsets[middle]! <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Returns the offset of the start of each line in a text. The first line starts after a byte order mark, which editors do not count. */
function linesOf(text: string): number[] {
  const lines = [text.startsWith('\ufeff') ? 1 : 0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.push(at + 1);
  return lines;
}

/** Matches a token or its beginning: punctuation, a quote, a comment, or any sequence up to one of these. */
const tokenStart = /[{}[\]:,"']|\/\/|\/\*|[^\s{}[\]:,"'/]+/g;

interface Container {
  readonly isObject: boolean;
  readonly keys: Set<string>;
  key: string | number;
}

/** Creates the index of a text, for repeated calls of `findPosition` and `findInText`. */
export function createKnownPlaces(source: KeptText, found?: FoundPlaces): KnownPlaces {
  return new KnownPlaces(source, (visit, start) => walk(source.text, visit, start), found);
}

/** Returns the position of the value at a path, of its nearest existing parent, or otherwise of the whole value. */
export function findPosition(
  text: string,
  target: Path,
  known = createKnownPlaces(new KeptText(text)),
): Position | undefined {
  const offset = findOffset(text, target, known)?.offset ?? tokensOf(text).next().value?.offset;
  return offset === undefined ? undefined : known.positionAt(offset);
}

/** Returns the position of a character in the string at a path, or undefined if the path does not lead to a string. */
export function findInText(
  text: string,
  target: Path,
  index: number,
  known = createKnownPlaces(new KeptText(text)),
): Position | undefined {
  const found = findOffset(text, target, known);
  if (found?.length !== target.length) return undefined;
  const isKey = typeof target.at(-1) === 'string';
  const tokens = tokensOf(text, found.offset);
  if (isKey) tokens.next(); // skips the key
  if (isKey) tokens.next(); // skips the colon
  const { value: token } = tokens.next();
  if (!token || (token.part[0] !== '"' && token.part[0] !== "'")) return undefined;
  const escapes = /\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r\n|[\s\S])|[\s\S]/g;
  let at = 0;
  for (const { 0: written, index: start } of token.part.slice(1, -1).matchAll(escapes)) {
    if (at >= index && !isLineContinuation(written)) return known.positionAt(token.offset + 1 + start);
    if (!isLineContinuation(written)) at++;
  }
  return known.positionAt(token.offset + token.part.length - 1);
}

function isLineContinuation(written: string): boolean {
  return written.length > 1 && /[\n\r\u2028\u2029]/.test(written);
}

/** Returns the offset of the value at a path, or of its nearest existing parent, and the length of the path that was found. */
function findOffset(text: string, target: Path, known: KnownPlaces): { offset: number; length: number } | undefined {
  const [item, skipped] = itemOnTheWay(target, known);
  let best = item;
  let bestLength = skipped;
  const visit = ({ depth, path, offset }: Visited) => {
    const length = skipped + depth;
    const isWithin = length > bestLength && length <= target.length;
    if (isWithin && path().every((part, index) => part === target[skipped + index])) {
      best = offset;
      bestLength = length;
    }
    return bestLength < target.length;
  };
  if (bestLength < target.length) walk(text, visit, item);
  return best === undefined ? undefined : { offset: best, length: bestLength };
}

/** Returns the offset of the innermost list item on a path, and the length of the path to that item. */
function itemOnTheWay(target: Path, known: KnownPlaces): [item: number | undefined, length: number] {
  const item = known.itemAt(target[0], target[1]);
  if (item === undefined) return [undefined, 0];
  const length = 1 + target.findLastIndex((part) => typeof part === 'number');
  const within = length > 2 ? known.itemWithin(item, target.slice(2, length)) : undefined;
  return within === undefined ? [item, 2] : [within, length];
}

/** Visits every key and list item in the value at offset `start`: see `Walk`. */
function walk(text: string, visit: Parameters<Walk>[0], start = 0): void {
  const stack: Container[] = [];
  const path = () => stack.map(({ key }) => key);
  let last: Token | undefined;
  let isItemStart = false;
  for (const token of tokensOf(text, start)) {
    const { part, offset } = token;
    const top = stack.at(-1);
    if (isItemStart && top !== undefined && !top.isObject && part !== ']') {
      isItemStart = false;
      if (!visit({ depth: stack.length, path, offset, isSecond: false })) return;
    }
    if (part === '{' || part === '[') {
      stack.push({ isObject: part === '{', keys: new Set(), key: part === '{' ? '' : 0 });
      isItemStart = part === '[';
    } else if (top === undefined) {
      return; // the value has neither keys nor items
    } else if (part === '}' || part === ']') {
      stack.pop();
      if (stack.length === 0) return;
      isItemStart = false;
    } else if (part === ',' && !top.isObject) {
      top.key = Number(top.key) + 1;
      isItemStart = true;
    } else if (part === ':' && top.isObject && last !== undefined) {
      top.key = readKey(last.part);
      const isSecond = top.keys.has(top.key);
      top.keys.add(top.key);
      if (!visit({ depth: stack.length, path, offset: last.offset, isSecond })) return;
    }
    last = token;
  }
}

/** A part of the text that is neither white space nor a comment, with its offset. */
export interface Token {
  readonly part: string;
  readonly offset: number;
}

/** Yields the tokens of a text. Strings are scanned manually, because a string may have millions of characters. */
export function* tokensOf(text: string, start = 0): Generator<Token, void, void> {
  tokenStart.lastIndex = start;
  for (let match = tokenStart.exec(text); match !== null; match = tokenStart.exec(text)) {
    const [part] = match;
    const offset = match.index;
    const isQuote = part === '"' || part === "'";
    let end = offset + part.length;
    if (isQuote) end = endOfString(text, offset);
    else if (part === '//') end = endOfLine(text, end);
    else if (part === '/*') end = indexAfter(text, '*/', end);
    tokenStart.lastIndex = end;
    if (part !== '//' && part !== '/*') yield { part: isQuote ? text.slice(offset, end) : part, offset };
    tokenStart.lastIndex = end; // the caller may have used the pattern in the meantime
  }
}

function indexAfter(text: string, mark: string, start: number): number {
  const index = text.indexOf(mark, start);
  return index < 0 ? text.length : index + mark.length;
}

/** Returns the offset of the character that ends the line and thus a line comment. */
function endOfLine(text: string, start: number): number {
  lineEnd.lastIndex = start;
  return lineEnd.exec(text)?.index ?? text.length;
}

const lineEnd = /[\n\r\u2028\u2029]/g;

/** Returns the object key that a token represents. */
export function readKey(text: string): string {
  const quote = text[0];
  if (quote !== '"' && quote !== "'") return text;
  return text
    .slice(1, -1)
    .replace(/\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[\s\S])/g, (_, escaped: string) =>
      escaped.length > 1 ? String.fromCharCode(Number.parseInt(escaped.slice(1), 16)) : escaped,
    );
}

/** Returns the line and column of an offset. A byte order mark does not count as a column. */
export function positionAt(text: string, offset: number): Position {
  const before = text
    .slice(0, offset)
    .replace(/^\ufeff/, '')
    .split('\n');
  return { line: before.length, column: before.at(-1)!.length + 1 };
}

/** Returns the offset of a line and column that exist in the text. */
export function offsetAt(text: string, { line, column }: Position): number {
  let start = text.startsWith('\ufeff') && line === 1 ? 1 : 0;
  for (let at = 1; at < line; at++) start = text.indexOf('\n', start) + 1;
  return start + column - 1;
}
