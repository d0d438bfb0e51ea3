// Flows tested from TypeScript.

import test from 'ava';
import { debounceTime, filter, map } from 'rxjs';
import * as rxjs from '../../lib/flow/rxjs.ts'; // as a flow file gets it
import { defineFlow, testFlow } from '../../lib/index.ts';
import { HubError } from '../../lib/model/error.ts';

const demo = ['flows/demo.json5'];

test('set, advance, expect and never, one call each', async (t) => {
  const flow = await testFlow(demo, { given: { 'desk/message': 'hello' } });
  t.teardown(() => flow.stop());
  t.is(flow.read('desk/message'), 'hello');
  flow.set({ 'desk/doorbell': true });
  flow.expect({ 'desk/door-lamp': true, 'desk/percent': undefined });
  flow.never('3s', { 'desk/door-lamp': false });
  t.is(flow.nowMs, 3000);
  flow.expect({ 'desk/door-lamp': false, 'clock/timer/2/trigger': true });
  flow.set({ 'desk/doorbell': true });
  flow.advance('2.9s');
  flow.expect({ 'desk/door-lamp': true, 'clock/pulse/1': 2 });
  flow.advance(100);
  t.false(flow.read('desk/door-lamp'));
  t.regex(flow.timeline(), /desk\/door-lamp +true → false +rule "lamp off after that"/);
});

test('steps in the form of a flow file; their times count from the start', async (t) => {
  const flow = await testFlow(demo);
  t.teardown(() => flow.stop());
  flow.advance(500);
  flow.do([
    { at: '1s', set: { 'desk/doorbell': true } },
    { during: '3s', never: { 'desk/door-lamp': false } },
  ]);
  flow.do([{ at: '4s', expect: { 'desk/door-lamp': false } }]);
  t.is(flow.nowMs, 4000);
  const error = t.throws(() => flow.do([{ at: '3s', expect: {} }]), { instanceOf: HubError });
  t.is(error.code, 'bad-flow');
  t.regex(error.message, /steps\[0\]\.at: expected a time of at least 4000 ms/);
});

test('a flow that is data', async (t) => {
  const flow = await testFlow({
    connections: { desk: { type: 'dummy', parameters: ['a,I', 'b,I'] } },
    rules: [{ from: 'desk/a', map: 'value * 2', to: 'desk/b' }],
  });
  t.teardown(() => flow.stop());
  flow.set({ 'desk/a': 21 });
  flow.expect({ 'desk/b': 42 });
  await t.throwsAsync(testFlow({ rules: [{ from: 'desk/a', to: 'desk/b' }] }), { message: /unknown connection/ });
});

test('streams of a flow in TypeScript use the clock of the test, each its own', async (t) => {
  const lamp = defineFlow({
    connections: { desk: { type: 'dummy', parameters: ['mic,B,false', 'lamp,B,true'] } },
    rules: (on) => [
      {
        name: 'lamp off',
        from: on.flag('desk/mic').pipe(
          debounceTime(30_000),
          filter((isOpen) => !isOpen),
          map(() => false),
        ),
        to: 'desk/lamp',
      },
    ],
  });
  const [first, second] = [await testFlow(lamp), await testFlow(lamp)];
  t.teardown(() => Promise.all([first.stop(), second.stop()]));
  for (const flow of [first, second]) {
    flow.set({ 'desk/mic': true });
    flow.advance('1m');
    flow.set({ 'desk/mic': false });
  }
  first.never('30s', { 'desk/lamp': false });
  t.false(first.read('desk/lamp'));
  second.advance('29s');
  t.true(second.read('desk/lamp'));
});

test('so do the schedulers of RxJS, for any that a flow names', async (t) => {
  const lamp = defineFlow({
    connections: { desk: { type: 'dummy', parameters: ['go,T', 'queue,B', 'asap,B', 'frame,B', 'ticks,I'] } },
    rules: (on) => [
      { from: on.trigger('desk/go').pipe(rxjs.observeOn(rxjs.queueScheduler, 30_000)), to: 'desk/queue' },
      { from: on.trigger('desk/go').pipe(rxjs.delay(30_000, rxjs.asapScheduler)), to: 'desk/asap' },
      { from: on.trigger('desk/go').pipe(rxjs.debounceTime(30_000, rxjs.animationFrameScheduler)), to: 'desk/frame' },
      {
        from: on.trigger('desk/go').pipe(rxjs.switchMap(() => rxjs.interval(10_000, rxjs.asapScheduler))),
        to: 'desk/ticks',
      },
    ],
  });
  const flow = await testFlow(lamp);
  t.teardown(() => flow.stop());
  flow.set({ 'desk/go': true });
  flow.advance('29s');
  const names = ['queue', 'asap', 'frame', 'ticks'];
  const values = () => names.map((name) => flow.read(`desk/${name}`));
  t.deepEqual(values(), [undefined, undefined, undefined, 1]);
  flow.advance('1s');
  t.deepEqual(values(), [true, true, true, 2]);
});

test('a failure has the timeline, and nothing continues after it', async (t) => {
  const flow = await testFlow(demo);
  t.teardown(() => flow.stop());
  flow.set({ 'desk/mic-open': true });
  const error = t.throws(() => flow.expect({ 'desk/red-light': false }), { instanceOf: HubError });
  t.is(error.code, 'test-failed');
  t.regex(error.message, /desk\/red-light +false → true +rule "red light"\n/);
  t.regex(error.message, /^>> .*desk\/red-light +expected false, got true/m);
  t.throws(() => flow.advance(1), { message: /expected false, got true/ });
});

test('unknown addresses and invalid values are reported with the nearest name', async (t) => {
  const flow = await testFlow(demo);
  t.teardown(() => flow.stop());
  t.throws(() => flow.set({ 'desk/lamp': true, 'desk/door-lamb': true }), {
    message:
      /steps\[0\]\.set\["desk\/door-lamb"\]: unknown parameter "desk\/door-lamb", did you mean "desk\/door-lamp"\?/,
  });
  t.throws(() => flow.expect({ 'desk/level': 'loud' }), { message: /expected a number, got "loud" \(string\)/ });
  t.throws(() => flow.read('desk/lvel'), { message: /did you mean "desk\/level"/ });
  t.throws(() => flow.advance('soon'), { message: /expected milliseconds or a duration/ });
  await t.throwsAsync(testFlow(demo, { given: { 'desk/doorbell': 1 } }), { message: /is a trigger/ });
});

test('a test starts at any time of day', async (t) => {
  const flow = await testFlow(
    {
      connections: { desk: { type: 'dummy', parameters: ['go,T', 'date,S'] } },
      rules: [{ from: 'desk/go', map: "date('Europe/Berlin') + ' ' + pad(hour('Europe/Berlin'), 2)", to: 'desk/date' }],
    },
    { start: new Date('2026-03-29T00:30Z') },
  );
  t.teardown(() => flow.stop());
  flow.set({ 'desk/go': true });
  t.is(flow.read('desk/date'), '2026-03-29 01');
  flow.advance('1h');
  flow.set({ 'desk/go': true });
  t.is(flow.read('desk/date'), '2026-03-29 03', 'functions of the time follow the clock of the test');
});
