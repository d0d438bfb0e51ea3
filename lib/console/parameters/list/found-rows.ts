// The rows of the parameter list: the results of the search, as a list or as a tree whose folders can be opened.

import { type Accessor, createMemo, createSignal } from 'solid-js';
import { messageOf } from '../../../model/error.ts';
import { route } from '../../page/route.ts';
import { sortOf } from '../../parts/table-head.tsx';
import type { Catalogue } from '../catalogue.ts';
import { listRows, type Row, type Rows, treeRows } from './rows.ts';
import { search } from './search.ts';
import { modeOf } from './search-bar.tsx';

/** The maximum number of results for which a search opens all folders in the tree. */
const openAllBelow = 200;

export interface FoundRows {
  readonly text: Accessor<string>;
  readonly isTree: Accessor<boolean>;
  /** The number of parameters that the search has found. */
  readonly count: Accessor<number>;
  /** The error in the search text. Empty if there is no error. */
  readonly fault: Accessor<string>;
  readonly rows: Accessor<Rows>;
  /** Returns the row at an index, or undefined if there is no such row. */
  at(place: number): Row | undefined;
  /** Opens or closes a folder in the tree. */
  fold(folder: Row, isOpen: boolean): void;
}

/** The columns by which the list can be sorted: only properties that are known for all parameters. */
export const sortColumns = ['name', 'type', 'access'] as const;

/** Returns the places in the order that the URL determines. Parameters that are equal in this order remain ordered by address. */
function sorted(all: Catalogue, places: Int32Array): Int32Array {
  const { by, isReversed } = sortOf(sortColumns);
  const keyOf = { name: undefined, type: all.typeOf, access: all.accessOf }[by];
  if (keyOf === undefined) return isReversed ? places.toReversed() : places;
  const way = isReversed ? -1 : 1;
  return places.toSorted((one, other) => {
    const [left, right] = [keyOf(one), keyOf(other)];
    return left === right ? one - other : left < right ? -way : way;
  });
}

/** Searches the catalogue for the search text in the URL, until the calling reactive scope is disposed. */
export function useFoundRows(catalogue: Accessor<Catalogue | undefined>): FoundRows {
  const [openFolders, setOpenFolders] = createSignal<ReadonlySet<string>>(new Set<string>());
  const text = () => route().params.search ?? '';
  const isTree = () => route().params.as === 'tree';
  const found = createMemo(() => {
    const all = catalogue();
    if (!all) return { places: new Int32Array(), fault: '' };
    try {
      return { places: search(all, modeOf(route().params.mode), text()), fault: '' };
    } catch (problem) {
      return { places: new Int32Array(), fault: messageOf(problem) };
    }
  });
  const rows = createMemo((): Rows => {
    const all = catalogue();
    const { places } = found();
    if (!all) return { length: 0, at: () => undefined as never };
    if (!isTree()) return listRows(all, sorted(all, places));
    const isAllOpen = text() !== '' && places.length <= openAllBelow;
    return treeRows(all, places, (folder) => isAllOpen || openFolders().has(folder));
  });
  return {
    text,
    isTree,
    count: () => found().places.length,
    fault: () => found().fault,
    rows,
    at: (place) => (place >= 0 && place < rows().length ? rows().at(place) : undefined),
    fold({ address }, isOpen) {
      const next = new Set(openFolders());
      if (isOpen) next.add(address);
      else next.delete(address);
      setOpenFolders(next);
    },
  };
}
