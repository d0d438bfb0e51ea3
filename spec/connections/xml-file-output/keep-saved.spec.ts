import test from 'ava';
import { Subject, VirtualTimeScheduler } from 'rxjs';
import type { ConnectionEvent } from '../../../lib/connections/connection.ts';
import { keepSaved } from '../../../lib/connections/xml-file-output/xml-file-output.ts';

/** A disk by hand: each save waits until the test lets it end. */
function createDisk() {
  const changes$ = new Subject<void>();
  const scheduler = new VirtualTimeScheduler();
  const saves: { succeed(): Promise<void>; fail(): Promise<void> }[] = [];
  const startedAt: number[] = [];
  const events: ConnectionEvent[] = [];
  const finished: Promise<unknown>[] = [];
  const save = () => {
    startedAt.push(scheduler.now());
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    saves.push({
      succeed: () => settle(resolve),
      fail: () => settle(() => reject(new Error('disk full'))),
    });
    return promise;
  };
  const subscription = keepSaved(changes$, { save, scheduler, finish: (work) => finished.push(work) }).subscribe(
    (event) => events.push(event),
  );
  return { changes$, scheduler, saves, startedAt, events, finished, subscription };
}

/** Does something and lets all that follows from it happen. */
function settle(act = () => {}): Promise<void> {
  act();
  return new Promise((resolve) => setImmediate(resolve));
}

const running: ConnectionEvent = { state: 'running' };
const degraded: ConnectionEvent = { state: 'degraded', reason: 'disk full' };

test('saves at the start, and once for all changes during a save', async (t) => {
  const { changes$, saves, events } = createDisk();
  t.is(saves.length, 1);
  changes$.next();
  changes$.next();
  t.is(saves.length, 1);
  await saves[0]!.succeed();
  t.is(saves.length, 2);
  await saves[1]!.succeed();
  t.is(saves.length, 2);
  changes$.next();
  t.is(saves.length, 3);
  t.deepEqual(events, [running, running]);
});

test('it tries a failed save again with backoff, without a change and not faster after one', async (t) => {
  const { changes$, scheduler, saves, startedAt, events } = createDisk();
  for (let attempt = 0; attempt < 6; attempt++) {
    await saves[attempt]!.fail();
    changes$.next();
    t.is(saves.length, attempt + 1);
    scheduler.flush();
    t.is(saves.length, attempt + 2);
  }
  t.deepEqual(startedAt, [0, 500, 1500, 3500, 7500, 12_500, 17_500]);
  await saves[6]!.succeed();
  t.deepEqual(events, [...Array(6).fill(degraded), running]);
  t.is(saves.length, 7);
  changes$.next();
  await saves[7]!.fail();
  scheduler.flush();
  t.is(startedAt.at(-1), 18_000);
});

test('unsubscribed at rest, it makes no further save', async (t) => {
  const { saves, subscription, finished, changes$ } = createDisk();
  await saves[0]!.succeed();
  subscription.unsubscribe();
  await Promise.all(finished);
  t.is(saves.length, 1);
  t.false(changes$.observed);
});

test('unsubscribed during a save, it completes that, and one more for later changes', async (t) => {
  const { saves, subscription, finished, changes$ } = createDisk();
  changes$.next();
  subscription.unsubscribe();
  t.is(finished.length, 1);
  await saves[0]!.succeed();
  t.is(saves.length, 2);
  await saves[1]!.succeed();
  await t.notThrowsAsync(finished[0]!);
});

test('unsubscribed while it waits for a retry, it tries a last time immediately', async (t) => {
  const { saves, subscription, finished } = createDisk();
  await saves[0]!.fail();
  subscription.unsubscribe();
  await settle();
  t.is(saves.length, 2);
  await saves[1]!.fail();
  await t.throwsAsync(finished[0]!, { message: 'disk full' });
});
