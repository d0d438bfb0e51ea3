import test from 'ava';
import { VirtualTimeScheduler } from 'rxjs';
import { Pause } from '../../../lib/model/time/wall-clock.ts';

function setUp() {
  const time = new VirtualTimeScheduler();
  return { time, pause: new Pause(time) };
}

/** Tells whether a promise has resolved. */
function follow(promise: Promise<void>): () => Promise<boolean> {
  let isOver = false;
  void promise.then(() => {
    isOver = true;
  });
  return async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return isOver;
  };
}

test('a pause ends after its time', async (t) => {
  const { time, pause } = setUp();
  const isOver = follow(pause.for(50));
  t.false(await isOver());
  time.flush();
  t.is(time.now(), 50);
  t.true(await isOver());
});

test('an expired time is not a pause', async (t) => {
  const { time, pause } = setUp();
  const isOver = follow(pause.for(-5));
  t.false(await isOver());
  time.flush();
  t.is(time.now(), 0);
  t.true(await isOver());
});

test('a pause that is woken ends immediately, and so does its timer', async (t) => {
  const { time, pause } = setUp();
  const isOver = follow(pause.for(50));
  pause.wake();
  t.true(await isOver());
  time.flush();
  t.is(time.now(), 0);
});

test('waking ends only the current pause, and is remembered until it is forgotten', async (t) => {
  const { pause } = setUp();
  t.false(pause.isWoken);
  pause.wake();
  t.true(pause.isWoken);
  const isOver = follow(pause.for(50));
  t.false(await isOver());
  t.true(pause.isWoken);
  pause.forget();
  t.false(pause.isWoken);
});

test('a pause may wait for any object, and notifies it at the end', async (t) => {
  const { pause } = setUp();
  let end = () => {};
  const ended: string[] = [];
  const wait = (name: string) =>
    pause.until((resolve) => {
      end = resolve;
      return { unsubscribe: () => ended.push(name) };
    });
  const first = wait('first');
  end();
  await first;
  t.deepEqual(ended, ['first']);
  const second = wait('second');
  pause.wake();
  await second;
  t.deepEqual(ended, ['first', 'second']);
});
