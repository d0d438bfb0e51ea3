// What is found once in a text of which many positions are asked, such as those of 5,000 tests: where its lines begin, and where
// the items of the lists that stand in its outermost object.

export interface Position {
  readonly line: number;
  readonly column: number;
}

/** Visits every key and list item of a text with its path. */
type Walk = (visit: (path: readonly (string | number)[], offset: number) => boolean) => void;

export class KnownPlaces {
  readonly #text: string;
  readonly #walk: Walk;
  #lines: number[] | undefined;
  #items: Map<string | number, number[]> | undefined;

  constructor(text: string, walk: Walk) {
    this.#text = text;
    this.#walk = walk;
  }

  /** The line and column of an offset. */
  positionAt(offset: number): Position {
    this.#lines ??= linesOf(this.#text);
    let [low, high] = [0, this.#lines.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#lines[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - this.#lines[low]! + 1 };
  }

  /** Where an item begins: `itemAt('tests', 2)`; undefined: there is none. */
  itemAt(list: string | number | undefined, index: string | number | undefined): number | undefined {
    if (list === undefined || typeof index !== 'number') return undefined;
    this.#items ??= this.#findItems();
    return this.#items.get(list)?.[index];
  }

  /** Of a key that is there twice, the first items count. */
  #findItems(): Map<string | number, number[]> {
    const items = new Map<string | number, number[]>();
    this.#walk(([list, index, ...more], offset) => {
      if (more.length > 0 || list === undefined || typeof index !== 'number') return true;
      const offsets = items.get(list) ?? [];
      offsets[index] ??= offset;
      items.set(list, offsets);
      return true;
    });
    return items;
  }
}

function linesOf(text: string): number[] {
  const lines = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines.push(at + 1);
  return lines;
}
