import test from 'ava';
import { MeasuringWindow } from '../../load/measuring-window.ts';

/** A window in time that the spec moves; the server works for half of it. */
function openWindow() {
  let now = 1000;
  const clock = { nowMs: () => now, busyMs: () => now / 2 };
  const window = new MeasuringWindow({ serverPid: 0, warmUpMs: 100, measureMs: 500 }, clock);
  return {
    window,
    lookAt(ms: number, done: number) {
      now = 1000 + ms;
      window.look(done);
      return window.measured;
    },
  };
}

test('work during the warm-up does not count', (t) => {
  const { lookAt } = openWindow();
  t.is(lookAt(0, 10), undefined);
  t.is(lookAt(99, 20), undefined);
  t.is(lookAt(150, 30), undefined); // the window opens
  t.is(lookAt(649, 90), undefined);
  t.deepEqual(lookAt(650, 100), { done: 70, elapsedMs: 500, serverBusyMs: 250 });
});

test('a closed window stays unchanged', (t) => {
  const { lookAt } = openWindow();
  lookAt(100, 0);
  const measured = lookAt(900, 40);
  t.deepEqual(measured, { done: 40, elapsedMs: 800, serverBusyMs: 400 });
  t.is(lookAt(5000, 1000), measured);
});

test('no work is measured as nothing', (t) => {
  const { lookAt } = openWindow();
  lookAt(100, 7);
  t.is(lookAt(700, 7)?.done, 0);
});
