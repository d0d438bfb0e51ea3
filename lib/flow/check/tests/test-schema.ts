// The shape of tests in flow files.

import { z } from 'zod';
import { addressShape, connectionIdShape } from '../../../model/address.ts';
import { readBy, record } from '../../../model/record-schema.ts';
import { durationPattern } from '../../../model/time/duration.ts';
import { readIsoTime } from '../../../model/time/iso-time.ts';

const values = (error: string) => record(z.string().meta({ pattern: addressShape }), z.unknown(), { error });
const duration = z.union([z.number().meta({ minimum: 0 }), z.string().meta({ pattern: durationPattern })], {
  error: "milliseconds or a duration such as '1m30s'",
});

const messageExpected = "a message, { hex: '81 01' }, a list of them, or { <Connection ID>: … }";
const message = z.union([
  z.string().min(1),
  z.strictObject({ text: z.string().min(1) }),
  z.strictObject({ hex: z.string().min(1).meta({ pattern: '^\\s*(?:[0-9A-Fa-f]{2}\\s*)+$' }) }),
]);
const messages = z.union([message, z.array(message)]);
/** Returns the schema for a value for one device, or for an object with the values for several devices, keyed by Connection ID. */
const byDevice = <Item extends z.ZodType>(item: Item, error: string) =>
  z.union([item, record(z.string().meta({ pattern: connectionIdShape }), item)], { error });

export const testStepSchema = z
  .strictObject({
    at: duration
      .optional()
      .describe('Time since the start of the test. Default: the time of the previous step; 0 for the first step'),
    set: values('an object of values by address').optional().describe('Values by address, set one after the other'),
    link: byDevice(z.enum(['up', 'down']), 'up, down, or { <Connection ID>: … }')
      .optional()
      .describe('Whether the device can be reached: "down" ends its link until "up". Default: up'),
    receive: byDevice(messages, messageExpected)
      .optional()
      .describe(
        'Messages that the device sends, after `set`: a message, a list, or { <Connection ID>: … } for several devices',
      ),
    sent: byDevice(messages, messageExpected)
      .optional()
      .describe('Messages that the hub must have sent to the device since the last `sent`, in this order; []: none'),
    stale: byDevice(z.boolean(), 'true, false, or { <Connection ID>: … }')
      .optional()
      .describe('Whether the values of the device must be stale'),
    wanted: values('an object of values by address')
      .optional()
      .describe('Written values by address that the device must not have confirmed yet; null: none is pending'),
    expect: values('an object of values by address').optional().describe('Expected values by address; null: unknown'),
    during: duration.optional().describe('How long `never` applies, from this step on, excluding the end'),
    never: values('an object of values by address')
      .optional()
      .describe('Values by address that must not occur at any time within `during`'),
  })
  .meta({ dependentRequired: { during: ['never'], never: ['during'] } });

const startExpected = 'a time such as "2026-03-28T23:00+01:00" or "2026-03-28T22:00Z"';
const startPattern = String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)$`;
const start = readBy(z.string({ error: startExpected }).meta({ pattern: startPattern }), startExpected, (text) =>
  new RegExp(startPattern).test(text) ? readIsoTime(text) : undefined,
);

export const testSchema = z.strictObject({
  name: z
    .string({ error: 'a description of the tested behaviour' })
    .min(1, { error: 'a description of the tested behaviour' }),
  start: start.optional().describe('Time of day at the start. Default: 2024-01-01T00:00Z, a Monday'),
  given: values('an object of values by address')
    .default({})
    .describe('Values set before anything runs; they start no rules'),
  steps: z.array(testStepSchema, { error: 'a list of steps' }).min(1, { error: 'at least one step' }),
});

/** A test in a flow file: `{ name: '…', given: { 'desk/level': 0 }, steps: [ … ] }`. */
export type FlowTest = z.input<typeof testSchema>;

/** One step of a test in a flow file: `{ at: '3s', expect: { 'desk/lamp': false } }`. */
export type FlowTestStep = z.input<typeof testStepSchema>;
