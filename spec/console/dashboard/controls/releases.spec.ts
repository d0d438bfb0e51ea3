// The pending release of a pressed button: it is off when the hub has acknowledged that, and not before.

import test from 'ava';
import { createReleases, releasePauseMs } from '../../../../lib/console/dashboard/controls/releases.ts';
import { eventually } from '../../../support/deadline.ts';

const address = 'desk/talk';

/** Releases, their writes, the lists of pending ones, and the reports; `answers` are those to the writes, in order. */
function recorded(answers: readonly Promise<void>[] = [], former: readonly string[] = []) {
  const written: boolean[] = [];
  const lists: (readonly string[])[] = [];
  const reported: unknown[] = [];
  const releases = createReleases(former, {
    send(_, isOn) {
      written.push(isOn);
      return answers[written.length - 1] ?? Promise.resolve();
    },
    changed: (list) => lists.push(list),
    settled: (_, error) => reported.push(error),
  });
  return { releases, written, lists, reported };
}

const refused = async () => {
  throw new Error('nothing is heard of it');
};

test('a press leaves a pending release until the release is acknowledged', async (t) => {
  const answer = Promise.withResolvers<void>();
  const { releases, written, lists } = recorded([Promise.resolve(), answer.promise]);
  await releases.press(address);
  t.deepEqual(lists, [[address]]);
  releases.release(address);
  t.deepEqual(written, [true, false]);
  t.deepEqual(releases.pending, [address]);
  answer.resolve();
  await eventually(() => releases.pending.length === 0);
  t.deepEqual(lists.at(-1), []);
});

test('a failed release is reported, and retried after a pause, until it is acknowledged', async (t) => {
  const { releases, written, reported } = recorded([Promise.resolve(), refused(), refused()]);
  await releases.press(address);
  const startMs = performance.now();
  releases.release(address);
  await eventually(() => releases.pending.length === 0);
  t.deepEqual(written, [true, false, false, false]);
  t.true(performance.now() - startMs >= 2 * releasePauseMs - 5);
  t.deepEqual(
    reported.map((error) => error instanceof Error),
    [false, true, true, false],
  );
});

test('a pending release is written immediately when the link is back, also by another page, but not while the button is held', async (t) => {
  const { releases, written } = recorded([], [address, 'desk/other']);
  await releases.press('desk/other');
  releases.retry();
  t.deepEqual(written, [true, false]);
  await eventually(() => releases.pending.length === 1);
  t.deepEqual(releases.pending, ['desk/other']);
});

test('a button that is pressed again is not delayed by its earlier release, for any result of that', async (t) => {
  const first = Promise.withResolvers<void>();
  const { releases, written } = recorded([Promise.resolve(), refused(), Promise.resolve(), first.promise]);
  await releases.press(address);
  releases.release(address);
  await releases.press(address);
  releases.release(address);
  await releases.press(address);
  first.resolve();
  const other = recorded([refused()], [address]);
  other.releases.retry();
  await eventually(() => other.releases.pending.length === 0); // that took a pause
  t.deepEqual(written, [true, false, true, false, true]);
  t.deepEqual(releases.pending, [address]);
});

test('a refused press leaves a pending release like any other: it may have been executed', async (t) => {
  const { releases, written } = recorded([refused()]);
  await t.throwsAsync(releases.press(address));
  t.deepEqual(releases.pending, [address]);
  releases.release(address);
  await eventually(() => releases.pending.length === 0);
  t.deepEqual(written, [true, false]);
});
