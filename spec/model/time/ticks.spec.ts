import test from 'ava';
import { withinTicks } from '../../../lib/model/time/wall-clock.ts';

const never = new Promise<never>(() => {});

/** A clock whose times are over as soon as they begin. */
const atOnce = {
  schedule(work: () => void) {
    setImmediate(work);
    return { unsubscribe() {} };
  },
};

test('each tick asks the waiting ones whether they are too late', async (t) => {
  const asked: number[] = [];
  const isLate = (ms: number) => asked.push(ms) === 3;
  t.is(await withinTicks(never, isLate, atOnce), undefined);
  t.deepEqual(asked, [50, 100, 150]);
});

test('a result in time is returned, also undefined', async (t) => {
  t.is(await withinTicks(Promise.resolve(5), () => true), 5);
  t.is(await withinTicks(Promise.resolve(undefined), () => t.fail()), undefined);
  await t.throwsAsync(
    withinTicks(Promise.reject(new Error('its own')), () => t.fail()),
    { message: 'its own' },
  );
});
