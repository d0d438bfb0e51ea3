// Hosted driver modules: their state, and what they offer.

import { z } from 'zod';
import { count, named, type Shape, text, texts, time, value } from './shape.ts';

const field = z.strictObject({
  id: text,
  type: text.describe('As named by the module, such as textinput, number, checkbox, dropdown'),
  label: text,
  about: z.exactOptional(text),
  default: z.unknown().describe('The value that the module suggests').optional(),
  min: z.exactOptional(z.number()),
  max: z.exactOptional(z.number()),
  step: z.exactOptional(z.number()),
  choices: z.exactOptional(z.array(z.strictObject({ id: value, label: text }))),
  isOpen: z.exactOptional(z.literal(true).describe('The field accepts values other than its choices')),
});
export type DriverFormField = Shape<typeof field>;

/** `GET /hub/drivers/atem?kind=actions&search=cut` returns `{"module":{"id":"bmd-atem",…},"status":"ok",…,"total":2,"items":[…]}`. */
export const driverPage = named(
  'Driver',
  z.strictObject({
    module: z
      .strictObject({
        id: text,
        name: text,
        version: text,
        manufacturer: text,
        products: texts,
        apiVersion: text,
      })
      .optional()
      .describe('Omitted if the module could not be opened'),
    status: text.describe(
      'The status of the device according to the module, such as ok; empty before the module has reported a status',
    ),
    startedAt: time.optional().describe('When the process was started; omitted while no process is running'),
    restarts: count,
    usedMiB: count.optional().describe('The memory that the process uses; omitted if unknown'),
    limitMiB: count,
    config: z.array(field).optional().describe('The fields of the config; omitted until they are known'),
    missing: texts.describe('The config fields that the settings lack'),
    log: z
      .array(z.strictObject({ time, level: text, text }))
      .describe("The most recent entries in the module's log, oldest first"),
    total: count.describe('The number of matching items'),
    items: z
      .array(
        z.strictObject({
          id: text,
          name: text,
          kind: z.exactOptional(text.describe('The kind of feedback')),
          value: z.exactOptional(value.describe('The value of a variable')),
          fields: z.exactOptional(z.array(field).describe('The options; only if a single item was requested')),
        }),
      )
      .describe('Variables, feedbacks or actions; empty while the module is not running'),
    reason: text.describe('Why there are no items; empty if there is no reason'),
  }),
);
export type DriverAnswer = Shape<typeof driverPage>;
