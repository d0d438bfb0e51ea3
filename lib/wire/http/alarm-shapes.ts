// The response shapes for the alarms from all connections of type `alarms`.

import { z } from 'zod';
import { address, count, flag, named, type Shape, text, time } from './shape.ts';

/**
 * An alarm: `{"address":"alarm/silence","text":"Silence on air","priority":1,"state":"unacknowledged","since":"2026-…","shelved":false}`.
 */
const alarm = z.strictObject({
  address: address.describe(
    'The parameter of the alarm, `<Connection ID>/<alarm>`; the parameters of its state and actions are below this address',
  ),
  text: text.describe('The text of the alarm; default: its name'),
  /** The priority of the alarm; 1 is the most urgent. */
  priority: count.describe('Omitted if the user may not read it').optional(),
  state: z.enum(['unacknowledged', 'returned', 'acknowledged', 'normal', 'unknown']),
  since: time.describe('When the alarm became present; omitted if it is not present').optional(),
  shelved: flag,
  shelvedUntil: time.describe('Omitted if the alarm is not shelved, or the user may not read it').optional(),
});
export type Alarm = Shape<typeof alarm>;

/** The response to `GET /hub/alarms`: `{"count":2,"active":1,"unacknowledged":1,"shelved":0,"alarms":[…]}`. */
export const alarmList = named(
  'Alarms',
  z.strictObject({
    count: count.describe('The number of alarms that the user may read, in any state'),
    /** The number of active alarms. As in the parameters `all/…`, shelved alarms are not counted in this and the next number. */
    active: count,
    unacknowledged: count,
    shelved: count,
    /** The alarms in order of urgency: unshelved before shelved, unacknowledged before acknowledged, then by priority, newest first. */
    alarms: z.array(alarm),
  }),
);
export type AlarmList = Shape<typeof alarmList>;
