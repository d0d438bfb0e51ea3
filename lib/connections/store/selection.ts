// Which addresses a part of a store is for.

import { z } from 'zod';
import { globToRegExp } from '../../model/glob.ts';

const globs = z.array(z.string({ error: "a glob of addresses such as 'desk/**'" }), {
  error: "a list of globs of addresses, such as ['desk/**']",
});

/** `{include: ['desk/**'], exclude: ['desk/scratch/*']}` */
export const selectionSettings = {
  include: globs.default(['**']).describe('Globs of addresses: * is any text within a segment, ** any text at all'),
  exclude: globs.default([]).describe('Globs of addresses that are not meant all the same'),
};

export interface Selection {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** Creates the test whether an address is selected. */
export function createSelection({ include, exclude }: Selection): (address: string) => boolean {
  const [included, excluded] = [include, exclude].map((list) => list.map(globToRegExp)) as [RegExp[], RegExp[]];
  return (address) => included.some((glob) => glob.test(address)) && !excluded.some((glob) => glob.test(address));
}
