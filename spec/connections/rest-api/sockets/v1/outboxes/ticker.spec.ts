// A ticker flushes at most so many times a second, all that wait together, and nobody waits for longer than a period.

import test from 'ava';
import fc from 'fast-check';
import { VirtualTimeScheduler } from 'rxjs';
import { Ticker } from '../../../../../../lib/connections/rest-api/sockets/v1/outboxes/ticker.ts';

const rate = fc.constantFrom(1, 10, 60, 300, 1000);
const pausesMs = fc.array(fc.oneof(fc.nat(5), fc.nat(400), fc.nat(3000)), { minLength: 1, maxLength: 60 });

test('flushes keep to a grid of periods, all that wait are flushed, and none waits for longer than a period', (t) => {
  fc.assert(
    fc.property(rate, pausesMs, (perSecond, pauses) => {
      const scheduler = new VirtualTimeScheduler(undefined, Number.POSITIVE_INFINITY);
      const ticker = new Ticker(perSecond, {
        now: () => scheduler.now(),
        soon: (work) => scheduler.schedule(work, 0),
        after: (delayMs, work) => scheduler.schedule(work, delayMs),
      });
      const flushed: { requestedMs: number; atMs: number }[] = [];
      let requestedMs = 0;
      for (const pause of pauses) {
        requestedMs += pause;
        const atMs = requestedMs;
        scheduler.schedule(
          () => ticker.request({ flush: () => flushed.push({ requestedMs: atMs, atMs: scheduler.now() }) }),
          atMs,
        );
      }
      scheduler.flush();
      t.is(flushed.length, pauses.length);
      const periodMs = 1000 / perSecond;
      for (const one of flushed) t.true(one.atMs - one.requestedMs <= Math.ceil(periodMs), JSON.stringify(one));
      const times = [...new Set(flushed.map(({ atMs }) => atMs))];
      for (let from = 0; from < times.length; from++)
        for (let to = from + 1; to < times.length; to++)
          t.true(times[to]! - times[from]! > (to - from - 1) * periodMs - 2, `${times[from]}, ${times[to]}`); // timers are whole ms
    }),
  );
});

test('at rate 0 all that are requested in a round are flushed with it', (t) => {
  const soon: (() => void)[] = [];
  const fail = () => t.fail('it waits');
  const ticker = new Ticker(0, { now: () => 5, soon: (work) => soon.push(work), after: fail });
  const flushed: number[] = [];
  for (const one of [1, 2, 3]) ticker.request({ flush: () => flushed.push(one) });
  t.is(soon.length, 1);
  soon.pop()!();
  t.deepEqual(flushed, [1, 2, 3]);
});
