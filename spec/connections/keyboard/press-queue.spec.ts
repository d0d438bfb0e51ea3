// Presses that wait: order, one at a time, the bound, and nothing kept for a keyboard that is gone.

import test from 'ava';
import type { Combination } from '../../../lib/connections/keyboard/combination.ts';
import { type LostPresses, maxPendingPresses, PressQueue } from '../../../lib/connections/keyboard/session.ts';

const press = (written: string): Combination => ({ written, keys: [written] });

function createQueue() {
  const queue = new PressQueue();
  const lost: LostPresses[] = [];
  const made: string[] = [];
  queue.lost$.subscribe((losses) => lost.push(losses));
  return { queue, lost, made, open: () => queue.open(({ written }) => made.push(written)) };
}

test('makes one press at a time, first in, first out', (t) => {
  const { queue, made, lost, open } = createQueue();
  open();
  for (const key of ['a', 'b', 'c']) queue.push(press(key));
  t.deepEqual(made, ['a']);
  queue.done();
  t.deepEqual(made, ['a', 'b']);
  queue.done();
  queue.done();
  queue.push(press('d'));
  t.deepEqual(made, ['a', 'b', 'c', 'd']);
  t.deepEqual(lost, []);
});

test('holds no more than its bound beside the one under way', (t) => {
  const { queue, made, lost, open } = createQueue();
  open();
  for (let count = 0; count < maxPendingPresses + 3; count++) queue.push(press(`${count}`));
  t.deepEqual(lost, [
    { count: 1, reason: '1000 presses are waiting' },
    { count: 1, reason: '1000 presses are waiting' },
  ]);
  for (let count = 0; count < maxPendingPresses + 3; count++) queue.done();
  t.is(made.length, maxPendingPresses + 1);
  t.is(made.at(-1), `${maxPendingPresses}`);
});

test('drops what comes while no keyboard is available', (t) => {
  const { queue, made, lost, open } = createQueue();
  queue.push(press('a'));
  t.deepEqual(lost, [{ count: 1, reason: 'no keyboard is available' }]);
  open();
  t.deepEqual(made, []);
});

test('holds keys only while the press is under way', (t) => {
  const { queue, open } = createQueue();
  open();
  queue.push(press('a'));
  queue.hold([38]);
  t.deepEqual(queue.held, [38]);
  queue.done();
  t.deepEqual(queue.held, []);
});

test('drops what waits when the keyboard goes, and remembers the keys it held until it is back', (t) => {
  const { queue, made, lost, open } = createQueue();
  open();
  for (const key of ['a', 'b', 'c']) queue.push(press(key));
  queue.hold([38, 56]);
  queue.close();
  t.deepEqual(lost, [{ count: 3, reason: 'the keyboard was disconnected' }]);
  queue.close();
  t.is(lost.length, 1);
  t.deepEqual(queue.held, [38, 56]);
  open();
  t.deepEqual(queue.held, []);
  queue.push(press('d'));
  t.deepEqual(made, ['a', 'd']);
});
