// Schemas that know what they describe. What must not compile is held by `npm run types`: a line below `@ts-expect-error` that does
// compile is a mistake.

import test from 'ava';
import {
  anyOf,
  describe,
  list,
  object,
  oneOf,
  type Schema,
  schema,
} from '../../../../../lib/connections/rest-api/pages/openapi/schema.ts';

interface Lamp {
  readonly name: string;
  readonly state: 'on' | 'off';
  readonly watts?: number | undefined;
}

const text = schema<string>({ type: 'string' });
const number = schema<number>({ type: 'number' });
const jsonOf = (written: object): unknown => JSON.parse(JSON.stringify(written));

test('a schema of an object has its properties, and says which may be left out', (t) => {
  const lamp: Schema<Lamp> = object<Lamp>({ name: text, state: oneOf(['on', 'off']) }, { watts: number });
  t.deepEqual(jsonOf(list(lamp)), {
    type: 'array',
    items: {
      type: 'object',
      required: ['name', 'state'],
      properties: { name: { type: 'string' }, state: { enum: ['on', 'off'] }, watts: { type: 'number' } },
      additionalProperties: false,
    },
  });
});

test('a schema carries a sentence, and may be one of two', (t) => {
  const either: Schema<string | number> = anyOf(describe(text, 'its name'), number);
  t.deepEqual(jsonOf(either), { anyOf: [{ type: 'string', description: 'its name' }, { type: 'number' }] });
});

test('a schema that disagrees with its type does not compile', (t) => {
  const state = oneOf(['on', 'off']);
  // @ts-expect-error a property is missing
  object<Lamp>({ name: text }, { watts: number });
  // @ts-expect-error there is one that the type has not
  object<Lamp>({ name: text, state, colour: text }, { watts: number });
  // @ts-expect-error one that may be left out is missing
  object<Lamp>({ name: text, state });
  // @ts-expect-error one that may be left out is said to be there
  object<Lamp>({ name: text, state, watts: number }, {});
  // @ts-expect-error one is of another type
  object<Lamp>({ name: number, state }, { watts: number });
  // @ts-expect-error a text is missing
  object<Lamp>({ name: text, state: oneOf(['on']) }, { watts: number });
  // @ts-expect-error there is a text that the type has not
  object<Lamp>({ name: text, state: oneOf(['on', 'off', 'broken']) }, { watts: number });
  // @ts-expect-error a list is no single one
  const lamps: Schema<Lamp> = list(object<Lamp>({ name: text, state }, { watts: number }));
  t.truthy(lamps);
});
