// The shapes for the entries of connections of type `schedule`.

import { z } from 'zod';
import { address, count, flag, named, type Shape, text, texts, time } from './shape.ts';

const day = z.int().min(0).max(6).describe('0: Monday');
const minutes = z.number().min(0).max(1440).describe('Minutes since midnight, as a clock in the zone shows them');

/**
 * An entry of a schedule:
 * `{"address":"opening/office","bars":[{"day":0,"from":360,"to":1320}],"except":[],"next":[{"time":"2026-…","open":false}]}`.
 */
const entry = z.strictObject({
  address,
  label: text.optional(),
  open: flag.describe('Omitted if the entry fires, or has not begun').optional(),
  bars: z
    .array(z.strictObject({ day, from: minutes, to: minutes }))
    .describe('Omitted if the entry fires')
    .optional(),
  fires: z
    .array(z.strictObject({ day, at: minutes }))
    .describe('At most 300; omitted if the entry opens and closes')
    .optional(),
  except: z.array(day).describe('The days on which the entry neither opens nor fires'),
  next: z
    .array(z.strictObject({ time, open: flag.describe('Omitted if the entry fires').optional() }))
    .describe('The next times at which the entry opens, closes or fires, at most five'),
});
export type ScheduleEntry = Shape<typeof entry>;

/** The response to `GET /hub/schedules`: `{"schedules":[{"connection":"opening","zone":"Europe/Berlin","days":[…],"entries":[…]}]}`. */
export const scheduleList = named(
  'Schedules',
  z.strictObject({
    /** The requested week, as the number of weeks after the current week. */
    week: z.int(),
    count: count.describe('The number of entries that the user may read'),
    schedules: z.array(
      z.strictObject({
        connection: text.describe('Connection ID'),
        zone: text,
        days: texts.describe('The dates of the week, from Monday'),
        entries: z.array(entry),
      }),
    ),
  }),
);
export type ScheduleList = Shape<typeof scheduleList>;
