// What errors are told as where JSON is accepted.

import { z } from 'zod';
import { type ErrorCode, errorCatalogue } from '../../model/error.ts';
import { count, named, type Shape, text } from './shape.ts';

/** RFC 9457: `{"type":"about:blank","title":"Not found","status":404,"detail":"none: there is no such dashboard","code":"not-found"}`. */
export const problem = named(
  'Problem',
  z.strictObject({
    /** Always `about:blank`: `code` tells problems apart. */
    type: text,
    /** That of the code. */
    title: text,
    status: count,
    detail: text.describe('One sentence: where, what was expected, what came'),
    code: z.enum(Object.keys(errorCatalogue) as ErrorCode[]),
  }),
);
export type Problem = Shape<typeof problem>;
