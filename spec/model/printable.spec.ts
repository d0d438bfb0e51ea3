// Texts of others on a terminal: shown, never obeyed.

import test from 'ava';
import fc from 'fast-check';
import { printable, printableJson, printableLines } from '../../lib/model/printable.ts';
import { codePoint } from '../support/any-text.ts';

const rows: readonly [what: string, text: string, shown: string][] = [
  ['colours, and what clears the screen', '\u001b[31mred\u001b[2J', '\\u001b[31mred\\u001b[2J'],
  [
    'the title of a window, the clipboard',
    '\u001b]0;x\u0007\u001b]52;c;eA==\u001b\\',
    '\\u001b]0;x\\u0007\\u001b]52;c;eA==\\u001b\\',
  ],
  ['the same in one byte each, of C1', '\u009b2J\u009d0;x\u009c\u0090q', '\\u009b2J\\u009d0;x\\u009c\\u0090q'],
  [
    'a carriage return, a backspace, a bell, DEL, NUL',
    'a\rb\bc\u0007d\u007fe\0f',
    'a\\rb\\u0008c\\u0007d\\u007fe\\u0000f',
  ],
  ['a line of its own', 'a\nb\tc', 'a\\nb\\tc'],
  ['lines of Unicode', 'a\u0085b\u2028c\u2029d', 'a\\u0085b\\u2028c\\u2029d'],
  [
    'changes of direction',
    '\u202eabc\u202c\u2066x\u2069\u200f\u061c\u200e',
    '\\u202eabc\\u202c\\u2066x\\u2069\\u200f\\u061c\\u200e',
  ],
  ['what is not seen', 'a\u200bb\ufeffc\u2060d\u{e0041}e', 'a\\u200bb\\ufeffc\\u2060d\\udb40\\udc41e'],
  [
    'fillers and other signs that have no width',
    'a\u00adb\u034fc\u115fd\u17b4e\u3164f\uffa0g\u{1bca0}h\u{1d173}i',
    'a\\u00adb\\u034fc\\u115fd\\u17b4e\\u3164f\\uffa0g\\ud82f\\udca0h\\ud834\\udd73i',
  ],
  ['selectors of variants, which belong to what stands before', '❤\ufe0f 葛\u{e0100}', '❤\ufe0f 葛\u{e0100}'],
  [
    'letters, signs and emoji of all languages',
    'Größe Ω 日本 עברית 👩\u200d🚒 می\u200cخواهم',
    'Größe Ω 日本 עברית 👩\u200d🚒 می\u200cخواهم',
  ],
];

for (const [what, text, shown] of rows)
  test(`text is shown without effect: ${what}`, (t) => {
    t.is(printable(text), shown);
    t.is(printableLines(text), shown.replaceAll('\\n', '\n').replaceAll('\\t', '\t'));
    t.is(JSON.parse(printableJson(JSON.stringify({ text }))).text, text);
    t.notRegex(printableJson(JSON.stringify({ text })), /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/u);
  });

test('printable text stays unchanged, and no text controls a terminal', (t) => {
  fc.assert(
    fc.property(fc.string({ unit: codePoint }), (text) => {
      const shown = printable(text);
      return printable(shown) === shown && /^[^\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]*$/u.test(shown);
    }),
  );
  t.pass();
});
