// The positions of a dashboard's widgets on a smaller screen.

import type { Layout } from './format.ts';
import type { Pair } from './place-items.ts';

interface LayoutOrder {
  readonly columns: number;
  readonly order: readonly string[];
  readonly hide: readonly string[];
}

/** Returns the positions of widgets on a smaller screen: in the given order, each widget at the first free position. */
export function layOut(
  items: readonly { readonly id?: string | undefined; readonly size: Pair }[],
  { columns, order, hide }: LayoutOrder,
): Layout {
  const rank = new Map(order.map((id, index) => [id, index]));
  const rankOf = (index: number) => rank.get(items[index]!.id ?? '') ?? order.length + index;
  const isHidden = (index: number) => hide.includes(items[index]!.id ?? '');
  const shown = [...items.keys()].filter((index) => !isHidden(index)).sort((one, other) => rankOf(one) - rankOf(other));
  const places: ({ at: Pair; size: Pair } | null)[] = items.map(() => null);
  let row = 1;
  let column = 1;
  let height = 1;
  for (const index of shown) {
    const size: Pair = [Math.min(columns, items[index]!.size[0]), items[index]!.size[1]];
    if (column + size[0] - 1 > columns) {
      row += height;
      column = 1;
      height = 1;
    }
    places[index] = { at: [column, row], size };
    column += size[0];
    height = Math.max(height, size[1]);
  }
  return { columns, rows: row + height - 1, places };
}
