// What is found once in a text of which many positions are asked, such as those of 5,000 tests: where its lines begin, and where
// the items of the lists that stand in its outermost object. It also finds keys that an object has twice.

import type { KeptText } from './kept-text.ts';

export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Where something is in the data: keys of objects and places in lists. */
export type Path = readonly (string | number)[];

/** A key of an object or an item of a list. */
export interface Visited {
  /** How long its path is. */
  readonly depth: number;
  /** To make the path costs more than to come there. */
  readonly path: () => Path;
  readonly offset: number;
  /** Whether an object has the key for the second time. */
  readonly isSecond: boolean;
}

/** Visits all keys and items of a text, or of the value that begins at an offset, until `visit` returns false. */
export type Walk = (visit: (visited: Visited) => boolean, start?: number) => void;

/** An item, and where the items of lists in it begin, by their paths as text. */
interface ItemsWithin {
  readonly item: number;
  readonly offsets: ReadonlyMap<string, number>;
}

/** What one walk through a text finds. */
export interface FoundPlaces {
  /** Where the items of the lists in the outermost object begin, by key; of a key that is there twice, the first items count. */
  readonly items: ReadonlyMap<string | number, readonly number[]>;
  /** Where the items of the outermost list begin. */
  readonly ownItems: readonly number[];
  /** The keys that occur a second time in the same object. */
  readonly duplicates: readonly { readonly path: Path; readonly offset: number }[];
}

/** Items of a list that stand next to each other. */
export interface ItemRange {
  readonly list: string;
  readonly first: number;
  readonly count: number;
  /** Where the first of them begins. */
  readonly start: number;
  /** Where the item behind them begins; undefined: there is none. */
  readonly end: number | undefined;
}

export class KnownPlaces {
  readonly #source: KeptText;
  readonly #walk: Walk;
  #lines: number[] | undefined;
  #found: FoundPlaces | undefined;
  /** Of the item that was asked for last, such as a folder of thousands of rules. */
  #within: ItemsWithin | undefined;

  /** `found` is what a walk would find, where that is known. */
  constructor(source: KeptText, walk: Walk, found?: FoundPlaces) {
    this.#source = source;
    this.#walk = walk;
    this.#found = found;
  }

  /** The line and column of an offset. */
  positionAt(offset: number): Position {
    this.#lines ??= linesOf(this.#source.text);
    const line = lastUpTo(this.#lines, offset);
    return { line: line + 1, column: offset - this.#lines[line]! + 1 };
  }

  /** Where an item begins: `itemAt('tests', 2)`; undefined: there is none. */
  itemAt(list: string | number | undefined, index: string | number | undefined): number | undefined {
    if (list === undefined || typeof index !== 'number') return undefined;
    return this.found.items.get(list)?.[index];
  }

  /** Where an item begins that is in a list within another item, at an offset: `itemWithin(at, ['rules', 3])`; undefined: there is none. */
  itemWithin(item: number, path: Path): number | undefined {
    if (this.#within?.item !== item) this.#within = { item, offsets: this.#lookWithin(item) };
    return this.#within.offsets.get(path.join('\n'));
  }

  get found(): FoundPlaces {
    this.#found ??= this.#look();
    return this.#found;
  }

  /** The items of the list that a change of the text may be within; undefined: it is before all items. */
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

  /** What is found once items have been exchanged for others, which begin at `offsets`; what is behind them has moved. */
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

/** The place of the last of ascending offsets that is not above a limit; the first offset is not. */
function lastUpTo(offsets: readonly number[], limit: number): number {
  let [low, high] = [0, offsets.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >>> 1;
    if (offsets[middle]! <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Where each line begins; the first one does behind a byte order mark, which no editor counts. */
function linesOf(text: string): number[] {
  const lines = [text.startsWith('\ufeff') ? 1 : 0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.push(at + 1);
  return lines;
}
