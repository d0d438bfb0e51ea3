import test from 'ava';
import fc from 'fast-check';
import { beginningOf, cutText } from '../../lib/model/printable.ts';
import { codePoint } from '../support/any-text.ts';
import { collectGarbage } from '../support/system/used-memory.ts';

test('text that is not too long stays unchanged', (t) => {
  for (const text of ['', 'lamp', '12345', 'a\ud83d']) {
    t.is(cutText(text, 5), text);
    t.is(beginningOf(text, 5), text);
  }
});

test('a longer text is truncated to its beginning', (t) => {
  t.is(cutText('123456', 5), '12345…');
  t.is(beginningOf('123456', 5), '12345');
  t.is(cutText('öäü€ß?', 5), 'öäü€ß…');
  t.is(beginningOf('öäü€ß?', 5), 'öäü€ß');
});

test('no half of a character remains', (t) => {
  t.is(cutText('lamp💡', 5), 'lamp\ufffd…');
  t.is(beginningOf('lamp💡', 5), 'lamp\ufffd');
  t.is(cutText('lamp💡s', 6), 'lamp💡…');
});

test('both cut any text alike, to well-formed ones of the same length', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: codePoint, maxLength: 40 }), fc.nat(20), (text, length) => {
      if (text.length <= length) return cutText(text, length) === text && beginningOf(text, length) === text;
      const beginning = beginningOf(text, length);
      return cutText(text, length) === `${beginning}…` && beginning.length === length && beginning.isWellFormed();
    }),
  );
  t.pass();
});

test('a truncated text does not retain the whole', (t) => {
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const kept = [cutText, beginningOf].flatMap((cut) =>
    ['a', '€'].flatMap((letter) =>
      Array.from({ length: 30 }, (_, index) => cut(`${index} ${letter.repeat(100_000)}!`, 200)),
    ),
  );
  collectGarbage();
  const perText = (process.memoryUsage().heapUsed - before) / kept.length;
  t.true(perText < 10_000, `${perText} bytes for each; one of the four alone would add 25,000`);
});
