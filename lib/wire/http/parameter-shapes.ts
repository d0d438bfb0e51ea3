// The shapes for parameters: their list, updates, and the causes of values.
import { z } from 'zod';
import {
  address,
  count,
  duration,
  flag,
  named,
  origin,
  type Shape,
  text,
  time,
  value,
  valueType,
  yes,
} from './shape.ts';

const about = named(
  'About',
  z.strictObject({
    label: text.optional(),
    unit: text.optional(),
    min: z.number().optional(),
    max: z.number().optional(),
    step: z.number().optional(),
    choices: z.record(z.string(), value).describe('All values by name').optional(),
    description: text.optional(),
    class: z.enum(['state', 'meter', 'event']).optional(),
  }),
);

/**
 * An item in the response to `GET /hub/parameters`:
 * `{"parameter":"desk/lamp","type":"B","access":"read-write","state":"known","value":true,"revision":7,"time":"2026-…","origin":{…}}`.
 */
const parameterInfo = named(
  'Parameter',
  z.strictObject({
    parameter: address,
    type: valueType,
    access: z.enum(['read-only', 'write-only', 'read-write']),
    state: z.enum(['known', 'unknown']),
    /** The current value; omitted if unknown, and for a trigger. */
    value: value.optional(),
    /** The revision, the time and the origin of the last change; omitted if there was no change. */
    revision: count.optional(),
    time: time.optional(),
    origin: origin.optional(),
    hub: text.describe('The hub that owns the parameter; omitted for this hub').optional(),
    staleSince: time.describe('The time at which that hub became silent, or the device went offline').optional(),
    wanted: value.describe('The pending value: written, but not confirmed by the device yet').optional(),
    about: about.describe('Metadata, if any').optional(),
  }),
);
export type ParameterInfo = Shape<typeof parameterInfo>;

const recentChange = z.strictObject({
  parameter: address,
  type: valueType,
  value,
  /** The value before the change; omitted if unknown. */
  previous: value.optional(),
  time,
  origin,
  unit: text.describe('Omitted if the parameter has none').optional(),
});
export type RecentChange = Shape<typeof recentChange>;

/** The response to `GET /hub/changes`: `{"from":"2026-…","isComplete":true,"changes":[{"parameter":"desk/lamp","value":true,…}]}`. */
export const recentChanges = named(
  'Changes',
  z.strictObject({
    from: time.describe('The beginning of the period'),
    isComplete: flag.describe('false: the period has more changes than are listed'),
    changes: z.array(recentChange).describe('The last change of each parameter, newest first'),
  }),
);
export type RecentChanges = Shape<typeof recentChanges>;

/** The response to `GET /parameters/<address>` if the client accepts JSON: the value. */
export const parameterValue = named('Value', z.union([z.string(), z.number(), z.boolean()]));

export const parameterList = named('Parameters', z.array(parameterInfo));

/** The body of `POST /update`: `{"parameter":"desk/lamp","value":true}`. */
export const update = named('Update', z.strictObject({ parameter: address, value }));
export type Update = Shape<typeof update>;

/** The response to `POST /update` if the client accepts JSON: `{"p":"desk/lamp","v":true}`, with the converted value. */
export const updated = named('Updated', z.strictObject({ p: address, v: value }));
export type Updated = Shape<typeof updated>;

/**
 * A change in a chain of causes:
 * `{"parameter":"desk/lamp","type":"B","value":false,"previous":true,"origin":{…},"revision":7,"time":"2026-…","afterMs":3000}`.
 */
const causedChange = z.strictObject({
  parameter: address,
  type: valueType,
  /** The new value; 1 for a trigger. */
  value,
  /** The value before the change; omitted if unknown or equal, and for a trigger. */
  previous: value.optional(),
  origin,
  /** The revision of the change; omitted if an equal value was written again. */
  revision: count.optional(),
  time,
  /** The time since the cause, in milliseconds; omitted if the change came from outside, or if its cause is no longer kept. */
  afterMs: duration.optional(),
  /** The time at which the device went offline, for a change that the device reported after its reconnection. */
  awaySince: time.optional(),
});
export type CausedChange = Shape<typeof causedChange>;

/** A value and the chain of its causes. */
const causes = z.strictObject({
  /** The value; omitted for a trigger. */
  value: value.optional(),
  /**
   * The last entry in the chain is the change from outside, unless causes are no longer stored. The chain is empty if there was no change.
   */
  chain: z.array(causedChange).describe('Newest change first'),
  forgotten: z.int().describe('Number of changes before the last of the chain that are no longer stored'),
});
export type Causes = Shape<typeof causes>;

/** The response to `GET /hub/explain/<address>`: `{"parameter":"desk/lamp","value":false,"chain":[…],"forgotten":0}`. */
export const explanation = named(
  'Explanation',
  causes.extend({
    parameter: address,
    /** The value that rules in shadow would have written, with its causes; omitted if these rules have not written the parameter. */
    would: causes.describe('The value that the rules in shadow would have set').optional(),
    /** The time at which the device went offline; omitted if the device is online, or if there is no device. */
    staleSince: time.describe('When the device went offline; the value may be outdated').optional(),
    /** Whether the value is not stored; omitted if the value is stored, or if there is no store. */
    isNotKept: yes.describe('The value is not stored: its writer uses most of the space').optional(),
  }),
);
export type Explanation = Shape<typeof explanation>;
