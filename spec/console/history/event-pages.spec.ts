// The list of events that the page holds.

import test from 'ava';
import { addOlder, maxListed, refresh, start } from '../../../lib/console/history/event-pages.ts';
import type { EventList, HistoryEvent } from '../../../lib/wire/http/past-shapes.ts';

const origin = { kind: 'client', name: 'api 10.0.0.3' } as const;
const event = (n: number, value: number = n): HistoryEvent => ({
  time: new Date(n).toISOString(),
  value,
  writer: origin,
  source: origin,
  chain: [],
});
const page = (numbers: readonly number[], next?: string): EventList => ({
  address: 'desk/lamp',
  type: 'I',
  events: numbers.map((n) => event(n)),
  next,
});
const valuesOf = ({ events }: { readonly events: readonly HistoryEvent[] }) => events.map(({ value }) => value);

test('older ones come below, new ones on top, and what is held is not asked for again', (t) => {
  const held = addOlder(start(page([9, 8, 7], 'a')), page([6, 5], 'b'));
  t.deepEqual([valuesOf(held), held.next], [[9, 8, 7, 6, 5], 'b']);
  const fresh = refresh(held, page([10, 9, 8], 'c'), 0);
  t.deepEqual([valuesOf(fresh), fresh.next], [[10, 9, 8, 7, 6, 5], 'b']);
});

test('of one page the newest is held', (t) => {
  const held = refresh(start(page([9, 8, 7], 'a')), page([10, 9, 8], 'b'), 0);
  t.deepEqual([valuesOf(held), held.next], [[10, 9, 8, 7], 'a']);
});

test('what happened before the time in view goes', (t) => {
  const held = refresh(start(page([9, 8, 7], 'a')), page([10, 9], 'b'), 8);
  t.deepEqual([valuesOf(held), held.next], [[10, 9, 8], undefined]);
});

test('a list that becomes too long begins anew', (t) => {
  const all = Array.from({ length: maxListed }, (_, index) => maxListed - index);
  const held = refresh(start(page(all, 'a')), page([maxListed + 1, maxListed], 'b'), 0);
  t.deepEqual([valuesOf(held), held.next], [[maxListed + 1, maxListed], 'b']);
});

test('when more is new than a page holds, nothing is left out in between', (t) => {
  const held = refresh(addOlder(start(page([3, 2], 'a')), page([1])), page([9, 8], 'b'), 0);
  t.deepEqual([valuesOf(held), held.next], [[9, 8], 'b']);
});

test('the first event after none, and none after some', (t) => {
  t.deepEqual(valuesOf(refresh(start(page([])), page([1]), 0)), [1]);
  t.deepEqual(valuesOf(refresh(start(page([1])), page([]), 0)), []);
});

test('an event keeps its id, also beside one of the same time and value', (t) => {
  const twins = { ...page([]), events: [event(2), event(1, 0), event(1, 0)] };
  const held = start(twins);
  t.is(new Set(held.events.map(({ id }) => id)).size, 3);
  const fresh = refresh(held, { ...twins, events: [event(3), ...twins.events] }, 0);
  t.deepEqual(fresh.events.slice(1), held.events);
});
