// One reader of regular expressions: whoever has one searched gets what RE2 finds, and whatever RE2 has not is told by all in the same
// words. `npm run trial -- standards re2` runs the tests that RE2 publishes.

import test from 'ava';
import { createPatternFilter } from '../../lib/connections/rest-api/filters/address-glob.ts';
import { createConfiguredFilter, createFilter, type Filter } from '../../lib/connections/rest-api/filters/filter.ts';
import { compileExpression } from '../../lib/expression/expression.ts';

const { evaluate } = compileExpression('matches(text, pattern)', { text: 'S', pattern: 'S' });

/** Each searches text for a pattern. */
const readers: Readonly<Record<string, (pattern: string) => (text: string) => boolean>> = {
  'matches(…)': (pattern) => (text) => evaluate({ text, pattern }) as boolean,
  'a filter of the REST API': (pattern) => createFilter([pattern], 1000),
  'a regex of patchbay.v1': (pattern) => createPatternFilter([{ regex: pattern }], 1000),
  webSocketFilters: (pattern) => createConfiguredFilter([pattern]) as Filter,
};

const searches: [pattern: string, text: string, isFound: boolean][] = [
  ['[]a]', ']', true],
  ['[]a]', 'b', false],
  ['[^]a]', ']', false],
  ['[^]a]', 'b', true],
  ['[[:alpha:]]', '5', false],
  ['[[:alpha:]]', ':', false],
  ['[[:^digit:]]+', '12', false],
  ['\\Aab\\z', 'ab', true],
  ['\\Aab\\z', 'ab\n', false],
  ['ab$', 'ab\n', false],
  ['(?m)ab$', 'ab\ncd', true],
  ['a.c', 'a\rc', true],
  ['a.c', 'a\nc', false],
  ['(?s)a.c', 'a\nc', true],
  ['(?i)straße', 'STRAßE', true],
  ['(?i)k', '\u212a', true],
  ['\\s', '\u00a0', false],
  ['\\w', 'é', false],
  ['\\pL', 'é', true],
  ['\\p{Greek}', 'λ', true],
  ['^.$', '👍', true],
  ['\\x{1F44D}', '👍', true],
  ['\\u00e9', 'é', true],
  ['^\\uD83D\\uDE00$', '😀', true],
  ['^[\\ud83d\\ude00-\\ud83d\\ude02]$', '😁', true],
  ['\\ude00\\ud83d', '😀', false],
  ['\\Q\\u00e9\\E', 'é', false],
  ['\\Q\\u00e9\\E', '\\u00e9', true],
  ['\\\\u00e9', 'é', false],
  ['\\Qa.b\\E', 'a.b', true],
  ['\\Qa.b\\E', 'axb', false],
  ['(?P<name>a)b', 'ab', true],
  ['a{,2}', 'a{,2}', true],
  ['a{2}', 'a', false],
  ['(?U)a+', 'aa', true],
  ['', '', true],
  ['|', 'a', true],
  ['\\_\\-\\/', '_-/', true],
  ['\\07', '\x07', true],
];
for (const [reader, read] of Object.entries(readers))
  test(`${reader} finds what RE2 finds`, (t) => {
    for (const [pattern, text, isFound] of searches)
      t.is(read(pattern)(text), isFound, `${pattern} in ${JSON.stringify(text)}`);
  });

const refused: [pattern: string, why: RegExp][] = [
  ['\\Z', /\\Z.*write \\z for the end of the text/],
  ['\\h', /\\h.*write \[ \\t\] for spaces/],
  ['\\C', /invalid escape sequence.*\\C/],
  ['\\R', /\\R.*line break/],
  ['\\X', /invalid escape sequence/],
  ['\\G', /invalid escape sequence/],
  ['\\e', /invalid escape sequence/],
  ['\\8', /back-references are not supported/],
  ['[\\h]', /\\h/],
  ['a**', /nested repetition/],
  ['a++', /nested repetition/],
  ['x{1001}', /repeat count/],
  ['a{2,1}', /repeat count/],
  ['(', /missing closing/],
  [')', /./],
  ['[z-a]', /range/],
  ['[[:foo:]]', /\[:foo:\]/],
  ['(?x)a', /./],
  ['(?#a)', /comments are not supported/],
  ['*', /missing argument/],
];
for (const [reader, read] of Object.entries(readers))
  test(`${reader} refuses what RE2 refuses`, (t) => {
    for (const [pattern, why] of refused) t.throws(() => read(pattern)('a'), { message: why }, pattern);
  });

test('only webSocketFilters of operators may use look-around and back-references', (t) => {
  for (const pattern of ['a(?=b)', 'a(?!c)', '(?<=a)b', '(a|b)\\1?'])
    for (const [reader, read] of Object.entries(readers))
      if (reader === 'webSocketFilters') t.true(read(pattern)('ab'), pattern);
      else
        t.throws(
          () => read(pattern)('ab'),
          { message: /(?:look-around is|back-references are) not supported/ },
          pattern,
        );
});
