// Writes for a control: one is under way, the newest waits, and the control hears how the last one ended.

import test from 'ava';
import { createWriter, writeIntervalMs } from '../../../../lib/console/dashboard/controls/paced-writer.ts';
import { within } from '../../../support/deadline.ts';

/** A writer, what it has sent and when, and how it ended. */
function recorded(send: (value: unknown) => Promise<void> = async () => {}) {
  const sent: unknown[] = [];
  const times: number[] = [];
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const writer = createWriter({
    send: (value) => {
      sent.push(value);
      times.push(performance.now());
      return send(value);
    },
    settled: resolve,
  });
  return { writer, sent, times, settled: () => within(promise, 'the end of the writes') };
}

test('the first value is sent immediately, of later ones the last', async (t) => {
  const { writer, sent, times, settled } = recorded();
  const startMs = performance.now();
  for (const value of [1, 2, 3, 4]) writer.write(value);
  t.deepEqual(sent, [1]);
  t.true(writer.isBusy);
  t.is(await settled(), undefined);
  t.deepEqual(sent, [1, 4]);
  t.true(times[1]! - startMs >= writeIntervalMs - 2);
  t.false(writer.isBusy);
});

test('nothing is sent before the current write has arrived', async (t) => {
  const first = Promise.withResolvers<void>();
  const { writer, sent, settled } = recorded((value) => (value === 1 ? first.promise : Promise.resolve()));
  writer.write(1);
  writer.write(2);
  const other = recorded();
  for (const value of [1, 2]) other.writer.write(value);
  await other.settled(); // longer than between two writes
  t.deepEqual(sent, [1]);
  first.resolve();
  await settled();
  t.deepEqual(sent, [1, 2]);
});

test('a success after a failure is shown, and a failure after a success', async (t) => {
  const failing = (bad: number) => (value: unknown) =>
    value === bad ? Promise.reject(new Error('no')) : Promise.resolve();
  for (const [bad, expected] of [
    [1, undefined],
    [2, 'no'],
  ] as const) {
    const { writer, settled } = recorded(failing(bad));
    writer.write(1);
    writer.write(2);
    t.is(((await settled()) as Error | undefined)?.message, expected);
  }
});
