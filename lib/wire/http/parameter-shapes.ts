// Parameters: the list of them, how one is set, and why one is as it is.
import { z } from 'zod';
import { address, count, duration, named, origin, type Shape, text, time, value, valueType, yes } from './shape.ts';

/**
 * `GET /hub/parameters` answers with a list of these:
 * `{"parameter":"desk/lamp","type":"B","access":"read-write","state":"known","value":true,"revision":7,"time":"2026-…","origin":{…}}`.
 */
const parameterInfo = named(
  'Parameter',
  z.strictObject({
    parameter: address,
    type: valueType,
    access: z.enum(['read-only', 'write-only', 'read-write']),
    state: z.enum(['known', 'unknown']),
    /** Left out while the state is unknown, and of a trigger. */
    value: value.optional(),
    /** Those of the last change; left out when there was none. */
    revision: count.optional(),
    time: time.optional(),
    origin: origin.optional(),
    hub: text.describe('The hub that owns it; left out: this one does').optional(),
    staleSince: time.describe('Since when nothing is heard of that hub').optional(),
  }),
);
export type ParameterInfo = Shape<typeof parameterInfo>;

/** `GET /parameters/<address>` answers with this where JSON is accepted. */
export const parameterValue = named('Value', z.union([z.string(), z.number(), z.boolean()]));

export const parameterList = named('Parameters', z.array(parameterInfo));

/** `POST /update` takes `{"parameter":"desk/lamp","value":true}`. */
export const update = named('Update', z.strictObject({ parameter: address, value }));
export type Update = Shape<typeof update>;

/** It answers, where JSON is accepted, with `{"p":"desk/lamp","v":true}`: the value after its conversion. */
export const updated = named('Updated', z.strictObject({ p: address, v: value }));
export type Updated = Shape<typeof updated>;

/** `{"parameter":"desk/lamp","type":"B","value":false,"previous":true,"origin":{…},"revision":7,"time":"2026-…","afterMs":3000}`. */
const causedChange = z.strictObject({
  parameter: address,
  type: valueType,
  /** Of a trigger 1. */
  value,
  /** Left out when it was unknown or equal, and of a trigger. */
  previous: value.optional(),
  origin,
  /** Left out when an equal value was written again. */
  revision: count.optional(),
  time,
  /** Since its cause, ms; left out when it came from outside, or its cause is forgotten. */
  afterMs: duration.optional(),
});
export type CausedChange = Shape<typeof causedChange>;

/** A value, and what led to it. */
const causes = z.strictObject({
  /** Left out of a trigger. */
  value: value.optional(),
  /** What began it all is the last, unless some are forgotten. Empty: there was none. */
  chain: z.array(causedChange).describe('Newest change first'),
  forgotten: z.int().describe('How many changes before the last of the chain are not kept'),
});
export type Causes = Shape<typeof causes>;

/** `GET /hub/explain/<address>` answers with `{"parameter":"desk/lamp","value":false,"chain":[…],"forgotten":0}`. */
export const explanation = named(
  'Explanation',
  causes.extend({
    parameter: address,
    /** Left out where those rules have not written it. */
    would: causes.describe('What it would be by the rules in shadow').optional(),
    /** Left out: it is kept, or no store is. */
    isNotKept: yes.describe('The store has no room for the value: who wrote it takes most of it').optional(),
  }),
);
export type Explanation = Shape<typeof explanation>;
