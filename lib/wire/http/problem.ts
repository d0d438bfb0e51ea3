// The JSON form of errors.

import { z } from 'zod';
import { type ErrorCode, errorCatalogue } from '../../model/error.ts';
import { count, named, type Shape, text } from './shape.ts';

/**
 * An error as a problem object (RFC 9457): `{"type":"about:blank","title":"Not found","status":404,"detail":"none: no such
 * dashboard","code":"not-found"}`.
 */
export const problem = named(
  'Problem',
  z.strictObject({
    /** The type of the problem: always `about:blank`, because problems are distinguished by `code`. */
    type: text,
    /** The title that belongs to the code. */
    title: text,
    status: count,
    detail: text.describe('One sentence: where, what was expected, what was found'),
    code: z.enum(Object.keys(errorCatalogue) as ErrorCode[]),
    conflicts: z
      .array(
        z.strictObject({
          file: text,
          etag: text.describe('The etag of the saved text'),
          base: z.exactOptional(text),
          yours: z.exactOptional(text),
          theirs: text,
        }),
      )
      .describe(
        'Only for an edit that overlaps with another one: both texts of each file, and the text from which both started',
      )
      .optional(),
  }),
);
export type Problem = Shape<typeof problem>;
