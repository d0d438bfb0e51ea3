// The rows of a list or tree of parameters. The addresses are sorted, so that all addresses in a folder are adjacent.

import type { Catalogue } from '../catalogue.ts';

export interface Row {
  /** The address of a parameter, or of a folder, which ends in `/`. */
  readonly address: string;
  /** The part of the address that the row shows. */
  readonly label: string;
  readonly depth: number;
  /** The index of the parameter in the catalogue; -1 for a folder. */
  readonly index: number;
  /** The number of parameters in the folder; 0 for a parameter. */
  readonly count: number;
  readonly isOpen: boolean;
}

/** The rows of a list or tree, by index, created on demand. */
export interface Rows {
  readonly length: number;
  at(place: number): Row;
}

export function listRows(catalogue: Catalogue, found: Int32Array): Rows {
  return {
    length: found.length,
    at(place) {
      const index = found[place]!;
      const address = catalogue.addresses[index]!;
      return { address, label: address, depth: 0, index, count: 0, isOpen: false };
    },
  };
}

/** Returns the rows of a tree that contains the found addresses. `isOpen` returns whether a folder is open. */
export function treeRows({ addresses }: Catalogue, found: Int32Array, isOpen: (folder: string) => boolean): Rows {
  const rows: Row[] = [];
  const addressAt = (place: number) => addresses[found[place]!]!;
  const walk = (from: number, to: number, prefix: string, depth: number) => {
    for (let place = from; place < to; ) {
      const address = addressAt(place);
      const slash = address.indexOf('/', prefix.length);
      if (slash < 0) {
        const label = address.slice(prefix.length);
        rows.push({ address, label, depth, index: found[place]!, count: 0, isOpen: false });
        place++;
        continue;
      }
      const folder = address.slice(0, slash + 1);
      const end = endOfRun(place, to, (other) => addressAt(other).startsWith(folder));
      const open = isOpen(folder);
      const label = folder.slice(prefix.length);
      rows.push({ address: folder, label, depth, index: -1, count: end - place, isOpen: open });
      if (open) walk(place, end, folder, depth + 1);
      place = end;
    }
  };
  walk(0, found.length, '', 0);
  return { length: rows.length, at: (place) => rows[place]! };
}

/** Returns the first index from `from` on for which `isIn` is false, by exponential and then binary search. */
function endOfRun(from: number, to: number, isIn: (place: number) => boolean): number {
  let last = from;
  let stride = 1;
  while (last + stride < to && isIn(last + stride)) {
    last += stride;
    stride *= 2;
  }
  let end = Math.min(to, last + stride);
  while (last + 1 < end) {
    const middle = (last + end) >> 1;
    if (isIn(middle)) last = middle;
    else end = middle;
  }
  return end;
}
