// The entries of the audit that the page holds.

import test from 'ava';
import { addOlder, refresh } from '../../../lib/console/audit/audit-pages.ts';
import type { AuditPage } from '../../../lib/wire/http/past-shapes.ts';

const page = (numbers: readonly number[], next?: number, count = 1): AuditPage => ({
  entries: numbers.map((n) => ({ n, time: new Date(n).toISOString(), kind: 'change', user: 'keys', count })),
  next,
});
const numbersOf = ({ entries }: Pick<AuditPage, 'entries'>) => entries.map(({ n }) => n);

test('older ones come below, new ones on top', (t) => {
  const held = addOlder(refresh(undefined, page([9, 8, 7], 7)), page([5, 4], 4));
  t.deepEqual([numbersOf(held), held.next], [[9, 8, 7, 5, 4], 4]);
  const fresh = refresh(held, page([11, 9, 8], 8));
  t.deepEqual([numbersOf(fresh), fresh.next], [[11, 9, 8, 7, 5, 4], 4]);
});

test('an entry that counts more is told anew', (t) => {
  const held = refresh(refresh(undefined, page([9, 8], 8)), page([9, 8], 8, 5));
  t.deepEqual(
    held.entries.map(({ count }) => count),
    [5, 5],
  );
  t.is(held.next, 8);
});

test('when more is new than a page holds, nothing is left out in between', (t) => {
  const held = refresh(addOlder(refresh(undefined, page([3, 2], 2)), page([1])), page([9, 8], 8));
  t.deepEqual([numbersOf(held), held.next], [[9, 8], 8]);
});
