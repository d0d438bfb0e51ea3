// Selects the addresses that a part of a store covers.

import { globToRegExp } from '../../model/glob.ts';

export interface Selection {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** Creates a function that checks whether a selection contains an address. */
export function createSelection({ include, exclude }: Selection): (address: string) => boolean {
  const [included, excluded] = [include, exclude].map((list) => list.map(globToRegExp)) as [RegExp[], RegExp[]];
  return (address) => included.some((glob) => glob.test(address)) && !excluded.some((glob) => glob.test(address));
}
