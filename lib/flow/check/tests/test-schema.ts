// The shape of the tests of flow files.

import { z } from 'zod';
import { addressShape } from '../../../model/address.ts';
import { readBy, record } from '../../../model/record-schema.ts';
import { durationPattern } from '../../../model/time/duration.ts';
import { readIsoTime } from '../../../model/time/iso-time.ts';

const values = (error: string) => record(z.string().meta({ pattern: addressShape }), z.unknown(), { error });
const duration = z.union([z.number().meta({ minimum: 0 }), z.string().meta({ pattern: durationPattern })], {
  error: "milliseconds or a duration such as '1m30s'",
});

export const testStepSchema = z
  .strictObject({
    at: duration.optional().describe('Time since the start of the test; left out: that of the step before, at first 0'),
    set: values('an object of values by address').optional().describe('Values by address, set one after the other'),
    expect: values('an object of values by address').optional().describe('Values by address; null: unknown'),
    during: duration.optional().describe('For how long, from this step on, `never` holds; the end is not included'),
    never: values('an object of values by address')
      .optional()
      .describe('What no parameter may be at any time of `during`'),
  })
  .meta({ dependentRequired: { during: ['never'], never: ['during'] } });

const startExpected = 'a time such as "2026-03-28T23:00+01:00" or "2026-03-28T22:00Z"';
const startPattern = String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)$`;
const start = readBy(z.string({ error: startExpected }).meta({ pattern: startPattern }), startExpected, (text) =>
  new RegExp(startPattern).test(text) ? readIsoTime(text) : undefined,
);

export const testSchema = z.strictObject({
  name: z.string({ error: 'what the test shows, in text' }).min(1, { error: 'what the test shows, in text' }),
  start: start.optional().describe('Time of day at the start; left out: 2024-01-01T00:00Z, a Monday'),
  given: values('an object of values by address')
    .default({})
    .describe('Values before anything runs; they fire no rule'),
  steps: z.array(testStepSchema, { error: 'a list of steps' }).min(1, { error: 'at least one step' }),
});

/** A test as an author writes it: `{ name: '…', given: { 'desk/level': 0 }, steps: [ … ] }`. */
export type FlowTest = z.input<typeof testSchema>;

/** One step as an author writes it: `{ at: '3s', expect: { 'desk/lamp': false } }`. */
export type FlowTestStep = z.input<typeof testStepSchema>;
