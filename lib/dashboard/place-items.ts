// Positions on a grid. A widget with `at` takes that position. All other widgets take the first free position, row by row. The console uses
// this file as well, so the file imports nothing large.

import { counted } from '../model/digits.ts';

/** The maximum number of columns and rows in a grid. */
export const maxLines = 48;

export type Pair = readonly [number, number];

export interface Placed {
  /** The position of each item: [column, row], counted from 1; [1, 1] if no position was free. */
  readonly at: readonly Pair[];
  /** The number of rows that the grid has or needs. */
  readonly rows: number;
  /** The errors in the positions, each with the index of its item. */
  readonly mistakes: readonly { readonly index: number; readonly message: string }[];
}

interface Item {
  readonly at?: Pair | undefined;
  readonly size: Pair;
}

/** Places all items on a grid. If `rows` is omitted, the grid becomes as high as needed. */
export function placeItems(items: readonly Item[], columns: number, rows: number | undefined): Placed {
  const highest = rows ?? maxLines;
  const taken = new Map<number, number>(); // cell → index of the item; limited by the number of cells in a grid
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
        message: `expected a place within the ${grid}, got a size of ${size.join('×')} at ${format(place)}`,
      });
    else if (other !== undefined)
      mistakes.push({
        index,
        message: `expected a free place, got ${format(place)}, which widgets[${other}] occupies`,
      });
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
