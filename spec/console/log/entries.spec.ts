// The lines of the log that the page holds: by level, and over a restart of the hub.

import test from 'ava';
import {
  append,
  beginsDay,
  dayOf,
  exportText,
  fold,
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
  t.true(isShown(entry(1, 'a', 'warn'), { level: 'info', text: '' }));
  t.true(isShown(entry(1, 'a', 'warn'), { level: 'warn', text: '1' }));
  t.false(isShown(entry(1, 'a', 'info'), { level: 'warn', text: '' }));
  t.false(isShown(entry(1, 'a', 'error'), { level: 'debug', text: 'x' }));
  t.true(isShown('restarted', { level: 'error', text: 'x' }));
  const reported = { ...entry(1), message: describeRestart(0, true) };
  t.true(isShown(reported, { level: 'error', text: 'x' }));
  t.false(isShown({ ...reported, connection: 'desk' }, { level: 'error', text: 'x' }));
});

test('each day begins with its date, and today does if an earlier day precedes it', (t) => {
  const days = (lines: readonly LogEntry[]) =>
    [...beginsDay(lines, (time) => time.slice(0, 10), '2026-11-23')].map((line) => (line as LogEntry).n);
  t.deepEqual(days([entry(1, 'b'), entry(2, 'b')]), []);
  t.deepEqual(days([entry(1), entry(2), entry(3, 'b'), entry(4, 'b')]), [1, 3]);
});

test('a line is shown on its day and of its source; a restart on its day, whatever the source', (t) => {
  const line = { ...entry(1, 'a', 'info'), connection: 'desk' };
  const of = (filter: object) => isShown(line, { level: 'info', text: '', ...filter });
  t.true(of({ day: dayOf(line), source: 'desk' }));
  t.false(of({ day: '2001-01-01' }));
  t.false(of({ source: 'rack' }));
  t.false(isShown('restarted', { level: 'info', text: '', day: dayOf(line) }));
  t.is(dayOf({ ...line, time: 'no time' }), '');
});

test('repeats of the line before are folded, whatever their time, but not others in between', (t) => {
  const [first, second, other, third] = [1, 2, 3, 4].map((n) => ({
    ...entry(n, 'a', 'info'),
    message: n === 3 ? 'other' : 'same',
  }));
  const { lines, repeats } = fold([first!, second!, 'restarted', second!, other!, third!]);
  t.deepEqual(lines, [first!, 'restarted', second!, other!, third!]);
  t.deepEqual([...repeats.values()], [{ count: 2, last: second!.time }]);
  t.is(fold([]).lines.length, 0);
});

test('lines are exported one each, with those of a message below it', (t) => {
  const line = { ...entry(1, 'a', 'warn'), connection: 'desk', message: 'one\ntwo' };
  t.is(exportText([line, 'restarted']), `${line.time} warn  desk: one\n  two\n--- the hub was restarted ---\n`);
});
