// A list that the hub tells page by page, as the page holds it.

import test from 'ava';
import { addNewer, addOlder, type Held, maxHeld, pageOf, since } from '../../../lib/console/hub/pages.ts';

interface Row {
  readonly time: string;
  readonly value: number;
  readonly count?: number;
}

const keyOf = ({ time, value }: Row) => `${time} ${value}`;
const row = (n: number, value = n): Row => ({ time: new Date(n).toISOString(), value });
const page = (numbers: readonly number[], next?: string) =>
  pageOf(
    numbers.map((n) => row(n)),
    next,
    keyOf,
  );
const reported = ({ rows, next }: Held<Row>) => [rows.map(({ value }) => value), next];

test('older entries are appended, new ones are prepended, and loaded ones are not requested again', (t) => {
  const held = addOlder(page([9, 8, 7], 'a'), page([6, 5], 'b'), keyOf);
  t.deepEqual(reported(held), [[9, 8, 7, 6, 5], 'b']);
  t.deepEqual(reported(addNewer(held, page([10, 9, 8], 'c'))), [[10, 9, 8, 7, 6, 5], 'b']);
});

test('of one page the newest version is kept', (t) => {
  t.deepEqual(reported(addNewer(page([9, 8, 7], 'a'), page([10, 9, 8], 'b'))), [[10, 9, 8, 7], 'a']);
});

test('a row with more details replaces the earlier one', (t) => {
  const more = pageOf([{ ...row(9), count: 5 }, row(8)], 'a', keyOf);
  t.deepEqual(addNewer(page([9, 8], 'a'), more), more);
});

test('entries before the visible time are removed', (t) => {
  t.deepEqual(reported(since(page([10, 9, 8, 7], 'a'), 8)), [[10, 9, 8], undefined]);
  t.deepEqual(reported(since(page([10, 9, 8], 'a'), 8)), [[10, 9, 8], 'a']);
});

test('a list that becomes too long starts again', (t) => {
  const all = Array.from({ length: maxHeld }, (_, index) => maxHeld - index);
  t.deepEqual(reported(addNewer(page(all, 'a'), page([maxHeld + 1, maxHeld], 'b'))), [[maxHeld + 1, maxHeld], 'b']);
});

test('when there is more news than a page holds, nothing is missing in between', (t) => {
  const held = addOlder(page([3, 2], 'a'), page([1]), keyOf);
  t.deepEqual(reported(addNewer(held, page([9, 8], 'b'))), [[9, 8], 'b']);
});

test('the first row after none, and none after some', (t) => {
  t.deepEqual(reported(addNewer(undefined, page([1]))), [[1], undefined]);
  t.deepEqual(reported(addNewer(page([]), page([1]))), [[1], undefined]);
  t.deepEqual(reported(addNewer(page([1]), page([]))), [[], undefined]);
});

test('a row keeps its ID, also next to one of the same time and value', (t) => {
  const held = pageOf([row(2), row(1, 0), row(1, 0)], undefined, keyOf);
  t.is(new Set(held.rows.map(({ id }) => id)).size, 3);
  const fresh = addNewer(held, pageOf([row(3), row(2), row(1, 0), row(1, 0)], undefined, keyOf));
  t.deepEqual(fresh.rows.slice(1), held.rows);
});
