// The gate of the log: a kind once a second with its count, a hundred kinds a second, nothing uncounted.

import test from 'ava';
import { createLogGate, timesText } from '../../lib/model/log-gate.ts';
import { Inbox } from '../support/inbox.ts';

/** Long enough for what is to happen within one, also on a busy machine. */
const intervalMs = 500;

function createGate() {
  const written = new Inbox<string>();
  const gate = createLogGate((count) => written.put(`others ${count}`), intervalMs);
  return { written, come: (kind: string, text = kind) => gate(kind, (count) => written.put(`${text} ${count}`)) };
}

test('a kind is written immediately, then once per interval with its count and its newest sentence', async (t) => {
  const { written, come } = createGate();
  for (let number = 0; number < 1000; number++) come('a', `a${number}`);
  come('b');
  t.is(written.length, 2);
  const startMs = performance.now();
  t.is(await written.next(), 'a0 1');
  t.is(await written.next(), 'b 1');
  t.is(await written.next(), 'a999 999');
  t.true(performance.now() - startMs > intervalMs / 2);
  come('a', 'again');
  t.is(written.length, 0);
  t.is(await written.next(), 'again 1');
});

test('a kind that was silent for an interval is written immediately again', async (t) => {
  const { written, come } = createGate();
  come('a');
  come('b');
  come('b');
  t.deepEqual([await written.next(), await written.next(), await written.next()], ['a 1', 'b 1', 'b 1']);
  come('a');
  t.is(written.length, 1);
});

test('a hundred kinds are distinguished, all others are combined', async (t) => {
  const { written, come } = createGate();
  for (let number = 0; number < 10_000; number++) come(`kind ${number}`);
  t.is(written.length, 100);
  const all = await written.until((text) => text.startsWith('others'));
  t.is(all.length, 101);
  t.is(all.at(-1), 'others 9900');
});

test('a writer may call the gate again', async (t) => {
  const written = new Inbox<number>();
  const gate = createLogGate(() => {}, intervalMs);
  const again = (count: number) => {
    written.put(count);
    if (count === 1) for (let number = 0; number < 3; number++) gate('a', again);
  };
  gate('a', again);
  t.deepEqual([await written.next(), await written.next()], [1, 3]);
});

test('the count is shown if it is more than one', (t) => {
  t.deepEqual([timesText(1), timesText(2)], ['', ' (2 times within a second)']);
});
