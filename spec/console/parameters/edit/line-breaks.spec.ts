// A text area knows only line feeds. The edited text has the line breaks that were there before.

import test from 'ava';
import fc from 'fast-check';
import { restoreLineBreaks, withLineFeeds } from '../../../../lib/console/parameters/edit/line-breaks.ts';

const rows: [name: string, original: string, edited: string, written: string][] = [
  ['nothing is changed', 'a\r\nb\rc\nd', 'a\nb\nc\nd', 'a\r\nb\rc\nd'],
  ['a line is changed, all others stay as they were', 'a\r\nb\rc\nd', 'a\nB\nc\nd', 'a\r\nB\rc\nd'],
  ['a line comes to lines of Windows', 'a\r\nb', 'a\nnew\nb', 'a\r\nnew\r\nb'],
  ['a line comes at the end', 'a\r\nb', 'a\nb\nc', 'a\r\nb\r\nc'],
  ['a line goes', 'a\r\nb\r\nc', 'a\nc', 'a\r\nc'],
  ['all goes', 'a\r\nb', '', ''],
  ['a break between equal lines', 'a\r\n\r\nb', 'a\n\n\nb', 'a\r\n\r\n\r\nb'],
  ['a line goes between two kinds of breaks', 'a\rb\nc', 'a\n\nc', 'a\r\n\nc'],
  ['there was no break', 'a b', 'a\nb', 'a\nb'],
  ['there was nothing', '', ' a\n\tb ', ' a\n\tb '],
];

for (const [name, original, edited, written] of rows)
  test(name, (t) => t.is(restoreLineBreaks(edited, original), written));

const text = fc
  .array(fc.constantFrom('a', 'b', '\t', ' ', '\n', '\r', '\r\n', '😀'), { maxLength: 12 })
  .map((parts) => parts.join(''));

test('unchanged text stays as it was; edited text is shown as it was typed', (t) => {
  fc.assert(
    fc.property(text, text, (original, other) => {
      t.is(restoreLineBreaks(withLineFeeds(original), original), original);
      t.is(restoreLineBreaks(original, original), original);
      const edited = withLineFeeds(other);
      t.is(withLineFeeds(restoreLineBreaks(edited, original)), edited);
    }),
    { numRuns: 2000 },
  );
});
