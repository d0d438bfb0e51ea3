// The lines of the log that the page holds: by level, and over a restart of the hub.

import test from 'ava';
import {
  append,
  beginsDay,
  type Held,
  isContinued,
  isShown,
  nothingHeld,
  replace,
  restart,
} from '../../../lib/console/log/entries.ts';
import { describeRestart, keptEntries, type LogLevel } from '../../../lib/model/reports/log-entry.ts';
import type { LogEntry, LogPage } from '../../../lib/wire/http/operation.ts';

const startedAt = { a: Date.UTC(2026, 10, 22), b: Date.UTC(2026, 10, 23) };
type Run = keyof typeof startedAt;

const entry = (n: number, run: Run = 'a', level: LogLevel = 'info'): LogEntry => {
  return { n, time: new Date(startedAt[run] + n).toISOString(), level, message: `${n}` };
};
/** The answer of a hub that has logged entries 1 to `last`. */
const page = (after: number, last: number, run: Run = 'a'): LogPage => {
  const first = Math.max(after > last ? 1 : after + 1, last - keptEntries + 1);
  const entries = Array.from({ length: last - first + 1 }, (_, index) => entry(first + index, run));
  return { entries, next: last, count: run };
};
const numbers = ({ lines }: Held) => lines.map((line) => (line === 'restarted' ? line : line.n));

test('a page is appended to the held entries', (t) => {
  const first = append(nothingHeld, page(0, 3));
  t.is(append(first, page(first.next, 3)).lines, first.lines, 'a page without a new line does not count as a change');
  t.deepEqual(numbers(append(first, page(first.next, 5))), [1, 2, 3, 4, 5]);
});

test('a hub whose numbers restart was restarted; one whose numbers continue was not, for any length of the log', (t) => {
  const held = append(nothingHeld, page(0, 5));
  for (const last of [0, 1, 5, 6, 500]) t.false(isContinued(held, page(held.next, last, 'b')), `${last} entries`);
  const after = append(restart(held), page(0, 2, 'b'));
  t.deepEqual(numbers(after), [1, 2, 3, 4, 5, 'restarted', 1, 2]);
  t.is(after.next, 2);
  const flood = page(held.next, 3 * keptEntries);
  t.true(isContinued(held, flood));
  const { lines } = append(held, flood);
  t.is(lines.length, keptEntries);
  t.is((lines.at(-1) as LogEntry).n, 3 * keptEntries);
});

test('a store with other numbers repeats no entry', (t) => {
  const held = restart(append(nothingHeld, page(0, 2)));
  const entries = [entry(1), entry(2), entry(3, 'b')];
  t.deepEqual(numbers(append(held, { entries, next: 3, count: 'c' })), [1, 2, 'restarted', 3]);
});

test('further levels replace the held entries of this count; a paused log receives nothing newer', (t) => {
  const first = { entries: [entry(2, 'b'), entry(4, 'b')], next: 4, count: 'b' };
  const held = append(restart(append(nothingHeld, page(0, 2))), first);
  t.deepEqual(numbers(replace(held, page(0, 6, 'b'), false)), [1, 2, 'restarted', 1, 2, 3, 4, 5, 6]);
  const paused = replace(held, page(0, 6, 'b'), true);
  t.deepEqual(numbers(paused), [1, 2, 'restarted', 1, 2, 3, 4]);
  t.deepEqual(numbers(append(paused, page(paused.next, 6, 'b'))), [1, 2, 'restarted', 1, 2, 3, 4, 5, 6]);
});

test('a line is filtered by its level and its text; the restart of the hub is always shown', (t) => {
  t.true(isShown(entry(1, 'a', 'warn'), 'info', ''));
  t.true(isShown(entry(1, 'a', 'warn'), 'warn', '1'));
  t.false(isShown(entry(1, 'a', 'info'), 'warn', ''));
  t.false(isShown(entry(1, 'a', 'error'), 'debug', 'x'));
  t.true(isShown('restarted', 'error', 'x'));
  const reported = { ...entry(1), message: describeRestart(0, true) };
  t.true(isShown(reported, 'error', 'x'));
  t.false(isShown({ ...reported, connection: 'desk' }, 'error', 'x'));
});

test('each day begins with its date, and today does if an earlier day precedes it', (t) => {
  const days = (lines: readonly LogEntry[]) =>
    [...beginsDay(lines, (time) => time.slice(0, 10), '2026-11-23')].map((line) => (line as LogEntry).n);
  t.deepEqual(days([entry(1, 'b'), entry(2, 'b')]), []);
  t.deepEqual(days([entry(1), entry(2), entry(3, 'b'), entry(4, 'b')]), [1, 3]);
});
