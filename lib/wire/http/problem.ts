// The JSON form of errors.

import { z } from 'zod';
import { type ErrorCode, errorCatalogue } from '../../model/error.ts';
import { count, named, type Shape, text } from './shape.ts';

/** RFC 9457: `{"type":"about:blank","title":"Not found","status":404,"detail":"none: there is no such dashboard","code":"not-found"}`. */
export const problem = named(
  'Problem',
  z.strictObject({
    /** Always `about:blank`: `code` distinguishes problems. */
    type: text,
    /** The title of the code. */
    title: text,
    status: count,
    detail: text.describe('One sentence: where, what was expected, what was found'),
    code: z.enum(Object.keys(errorCatalogue) as ErrorCode[]),
  }),
);
export type Problem = Shape<typeof problem>;
