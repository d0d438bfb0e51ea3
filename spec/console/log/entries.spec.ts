// The lines of the log that the page holds: by level, and over a restart of the hub.

import test from 'ava';
import {
  afterOf,
  append,
  type Held,
  isSameHub,
  isShown,
  maxLines,
  replace,
  restart,
} from '../../../lib/console/log/entries.ts';
import type { LogLevel } from '../../../lib/model/log-entry.ts';
import type { LogEntry, LogPage } from '../../../lib/wire/http/log.ts';

const entry = (n: number, run = 'a', level: LogLevel = 'info'): LogEntry => ({ n, time: run, level, message: `${n}` });
/** The answer of a hub that has logged entries 1 to `last`. */
const page = (after: number, last: number, run = 'a'): LogPage => {
  const first = Math.max(after > last ? 1 : after + 1, last - maxLines + 1);
  return { entries: Array.from({ length: last - first + 1 }, (_, index) => entry(first + index, run)), next: last };
};
const none: Held = { lines: [], last: undefined };
const numbers = ({ lines }: Held) => lines.map((line) => (line === 'restarted' ? line : line.n));

test('what is asked for overlaps with what is held, and comes only once', (t) => {
  const first = append(none, page(afterOf(none), 3));
  t.is(afterOf(first), 2);
  const same = page(afterOf(first), 3);
  t.true(isSameHub(first, same));
  t.is(append(first, same).lines, first.lines, 'no new line is no change');
  t.deepEqual(numbers(append(first, page(afterOf(first), 5))), [1, 2, 3, 4, 5]);
});

test('a restart is seen whether the new hub has logged less, as much, or more', (t) => {
  const held = append(none, page(0, 5));
  for (const last of [0, 1, 4, 5, 6, 500]) t.false(isSameHub(held, page(afterOf(held), last, 'b')), `${last} entries`);
  const after = append(restart(held), page(0, 2, 'b'));
  t.deepEqual(numbers(after), [1, 2, 3, 4, 5, 'restarted', 1, 2]);
  t.true(after.last === after.lines.at(-1));
});

test('a hub that logs faster than it is asked is no other hub; the newest lines are held', (t) => {
  const held = append(none, page(0, 5));
  const flood = page(afterOf(held), 3 * maxLines);
  t.true(isSameHub(held, flood));
  const { lines } = append(held, flood);
  t.is(lines.length, maxLines);
  t.is((lines.at(-1) as LogEntry).n, 3 * maxLines);
});

test('more levels replace what is held of this run; while it is paused nothing newer comes', (t) => {
  const held = append(restart(append(none, page(0, 2))), { entries: [entry(2, 'b'), entry(4, 'b')], next: 4 });
  t.deepEqual(numbers(replace(held, page(0, 6, 'b'), true)), [1, 2, 'restarted', 1, 2, 3, 4, 5, 6]);
  t.deepEqual(numbers(replace(held, page(0, 6, 'b'), false)), [1, 2, 'restarted', 1, 2, 3, 4]);
});

test('a line is shown by its level and its text; that the hub was restarted always is', (t) => {
  t.true(isShown(entry(1, 'a', 'warn'), 'info', ''));
  t.true(isShown(entry(1, 'a', 'warn'), 'warn', '1'));
  t.false(isShown(entry(1, 'a', 'info'), 'warn', ''));
  t.false(isShown(entry(1, 'a', 'error'), 'debug', 'x'));
  t.true(isShown('restarted', 'error', 'x'));
});
