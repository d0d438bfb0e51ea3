// What settings say of the addresses that a part of a store is for.

import { z } from 'zod';

const globs = z.array(z.string({ error: "a glob of addresses such as 'desk/**'" }), {
  error: "a list of globs of addresses, such as ['desk/**']",
});

/** `{include: ['desk/**'], exclude: ['desk/scratch/*']}` */
export const selectionSettings = {
  include: globs.default(['**']).describe('Globs of addresses: * is any text within a segment, ** any text at all'),
  exclude: globs.default([]).describe('Globs of addresses that are not meant all the same'),
};
