// Rows for another thread: numbers in transferred buffers, and all texts in one string. Copying each row would block the hub's thread for
// longer.

import { giveWay } from './thread/give-way.ts';

export type Cell = string | number | boolean | undefined;

/** Rows of equal length, cell after cell. */
export interface PackedRows {
  readonly rows: number;
  /** The kind of each cell. */
  readonly kinds: Uint8Array<ArrayBuffer>;
  /** The value of each number, the length of each text. */
  readonly numbers: Float64Array<ArrayBuffer>;
  /** All texts, without separators. */
  readonly texts: string;
}

const kind = { nothing: 0, no: 1, yes: 2, number: 3, text: 4 } as const;

/** Packs rows of equal length. */
export function packRows(rows: readonly (readonly Cell[])[]): PackedRows {
  const cells = rows.length * (rows[0]?.length ?? 0);
  const kinds = new Uint8Array(cells);
  const numbers = new Float64Array(cells);
  let texts = '';
  let place = 0;
  for (const row of rows)
    for (const cell of row) {
      if (typeof cell === 'string') {
        kinds[place] = kind.text;
        numbers[place] = cell.length;
        texts += cell;
      } else if (typeof cell === 'number') {
        kinds[place] = kind.number;
        numbers[place] = cell;
      } else if (cell !== undefined) kinds[place] = cell ? kind.yes : kind.no;
      place++;
    }
  return { rows: rows.length, kinds, numbers, texts };
}

/** Returns the buffers to transfer instead of copying them. */
export function buffersOf({ kinds, numbers }: PackedRows): ArrayBuffer[] {
  return [kinds.buffer, numbers.buffer];
}

/** Unpacks rows in the thread that writes them. */
export function unpackRows({ rows, kinds, numbers, texts }: PackedRows): Cell[][] {
  const width = kinds.length / rows;
  const unpacked: Cell[][] = [];
  let start = 0;
  for (let place = 0, row = 0; row < rows; row++) {
    giveWay();
    const cells: Cell[] = [];
    for (const end = place + width; place < end; place++) {
      const number = numbers[place]!;
      if (kinds[place] === kind.number) cells.push(number);
      else if (kinds[place] === kind.text) {
        cells.push(texts.slice(start, start + number));
        start += number;
      } else cells.push(kinds[place] === kind.nothing ? undefined : kinds[place] === kind.yes);
    }
    unpacked.push(cells);
  }
  return unpacked;
}
