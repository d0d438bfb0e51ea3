import test from 'ava';
import fc from 'fast-check';
import { groupDigits } from '../../lib/model/digits.ts';

test('digits are grouped as in English', (t) => {
  t.is(groupDigits(20_000), '20,000');
  fc.assert(fc.property(fc.maxSafeInteger(), (count) => t.is(groupDigits(count), count.toLocaleString('en'))));
});
