// The errors for text that is not JSON5. The mistakes of people are in spec/flow/check; here are the bounds of it.

import test from 'ava';
import fc from 'fast-check';
import { explainJson5 } from '../../lib/json5/explain-mistake.ts';
import { readJson5 } from '../../lib/json5/read-json5.ts';
import { processorTimeOf } from '../support/system/machine.ts';

test('valid JSON5 has no explanation', (t) => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      t.is(explainJson5(text), undefined);
    }),
  );
  t.is(explainJson5("{ a: +1, $b_: .5, 'c': [0xff, -Infinity, 'x\\\ny',], /* , */ \"d\": null, }"), undefined);
});

test('text with too deep nesting is refused in a sentence, too', (t) => {
  t.throws(() => readJson5('['.repeat(200_000)), { code: 'bad-json5' });
});

test('long text of digits that is not a number is explained immediately', async (t) => {
  const explain = () => t.not(explainJson5(`{ a: ${'1'.repeat(65_000)}x }`), undefined);
  t.true((await processorTimeOf(explain)) < 500);
});

test('any mistake is reported in one sentence, with a place in the text', (t) => {
  const texts = fc.string({ unit: fc.constantFrom(...'{}[]:,\'"#=“ab1- \n/\\') });
  fc.assert(
    fc.property(texts, (text) => {
      try {
        readJson5(text);
      } catch (error) {
        t.regex((error as Error).message, /^expected [^\n]+$/);
      }
    }),
    { examples: [["[1 '- \n:"]] },
  );
});
