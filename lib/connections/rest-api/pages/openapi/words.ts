// Schemas that many others are made of.

import { type Origin, originKinds } from '../../../../model/parameter.ts';
import { type Value, valueTypes } from '../../../../model/value.ts';
import { describe, list, object, oneOf, schema } from './schema.ts';

export const text = schema<string>({ type: 'string' });
export const flag = schema<boolean>({ type: 'boolean' });
export const count = schema<number>({ type: 'integer', minimum: 0 });
export const duration = schema<number>({ type: 'number', minimum: 0 });
export const time = schema<string>({ type: 'string', format: 'date-time' });
export const texts = list(text);
export const address = describe(text, '<Connection ID>/<Parameter ID>');
export const valueType = oneOf(valueTypes, 'text, boolean, integer, float, trigger');
export const value = schema<Value>({ type: ['string', 'number', 'boolean'] });
export const origin = object<Origin>(
  { kind: oneOf(originKinds), name: text },
  {
    file: text,
    hub: describe(text, 'The hub where it wrote; left out: this one'),
    reportedBy: describe(text, 'The hub that says so, which this one cannot check; left out: this hub knows it itself'),
    traceparent: describe(text, 'The trace of the request, as W3C Trace Context writes it'),
  },
);
