// Hosted driver modules: their state, and what they offer.

import { z } from 'zod';
import { count, named, type Shape, text, texts, time, value } from './shape.ts';

const field = z.strictObject({
  id: text,
  type: text.describe('In the words of the module, such as textinput, number, checkbox, dropdown'),
  label: text,
  about: z.exactOptional(text),
  default: z.unknown().describe('The suggestion of the module').optional(),
  min: z.exactOptional(z.number()),
  max: z.exactOptional(z.number()),
  step: z.exactOptional(z.number()),
  choices: z.exactOptional(z.array(z.strictObject({ id: value, label: text }))),
  isOpen: z.exactOptional(z.literal(true).describe('The field accepts other values than its choices')),
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
    status: text.describe('What the module says of its device, such as ok; empty before it has said anything'),
    startedAt: time.optional().describe('When its process was started; omitted while none is running'),
    restarts: count,
    usedMiB: count.optional().describe('The memory of its process; omitted if it is not known'),
    limitMiB: count,
    config: z.array(field).optional().describe('The fields of its config; omitted while they are not known'),
    missing: texts.describe('The config fields that the settings lack'),
    log: z.array(z.strictObject({ time, level: text, text })).describe('The last entries of its log, oldest first'),
    total: count.describe('How many items of the kind match'),
    items: z
      .array(
        z.strictObject({
          id: text,
          name: text,
          kind: z.exactOptional(text.describe('The kind of a feedback')),
          value: z.exactOptional(value.describe('The value of a variable')),
          fields: z.exactOptional(z.array(field).describe('The options; only of a single item')),
        }),
      )
      .describe('Variables, feedbacks or actions; empty while the module is not running'),
    reason: text.describe('Why there are no items; empty if there is no reason'),
  }),
);
export type DriverAnswer = Shape<typeof driverPage>;
