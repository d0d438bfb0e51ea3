// What a hub asks another one to write becomes there what it would have become here: the same value, or the same error.

import test from 'ava';
import fc from 'fast-check';
import { encodeInput, readInput } from '../../../../lib/connections/nats/wire/domain-messages.ts';
import { readStartMs } from '../../../../lib/connections/timer/timer.ts';
import { HubError } from '../../../../lib/model/error.ts';
import { convert, valueTypes } from '../../../../lib/model/value.ts';

const conversions = [
  ...valueTypes.map((type) => (input: unknown) => convert(type, input)),
  (input: unknown) => readStartMs(input, 1000),
];

/** What each conversion makes of an input. */
const outcomesOf = (input: unknown) =>
  conversions.map((toValue) => {
    try {
      return toValue(input);
    } catch (error) {
      return error instanceof HubError ? [error.code, error.message] : error;
    }
  });

const farAway = (input: unknown) => readInput(JSON.parse(JSON.stringify(encodeInput('desk/a', input))));

const deep = JSON.parse('['.repeat(30_000) + ']'.repeat(30_000)) as unknown;
const numbers = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 5e-324, Number.MAX_VALUE];
const objects = [{}, [1, 'a'], deep, new Date(0), Object(7), Object('x'), { toJSON: () => 7 }, new Map()];
const others = [undefined, null, true, '', '\ud800', 5n, Symbol('lamp'), () => 7];

test('any value becomes the same on the other hub, with the same error', (t) => {
  for (const input of [...numbers, ...objects, ...others]) t.deepEqual(outcomesOf(farAway(input)), outcomesOf(input));
  fc.assert(
    fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withSparseArray: true }), (input) => {
      t.deepEqual(outcomesOf(farAway(input)), outcomesOf(input));
    }),
  );
});

test('a value is sent unchanged, and anything else is shortened', (t) => {
  for (const input of ['x'.repeat(1000), 0.5, false, null])
    t.deepEqual(encodeInput('desk/a', input), ['desk/a', input]);
  t.deepEqual(encodeInput('desk/a', deep), ['desk/a', null, `${'['.repeat(57)}… (array)`]);
});
