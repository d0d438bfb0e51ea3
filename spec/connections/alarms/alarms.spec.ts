// Alarms in virtual time: their states, beside a table of them, and what is told of all together.

import test from 'ava';
import fc from 'fast-check';
import { type FlowUnderTest, testFlow } from '../../../lib/index.ts';
import { VirtualClock } from '../../../lib/testing/virtual-clock.ts';
import { mistakesOf } from '../../support/core.ts';
import { eventually } from '../../support/deadline.ts';
import { writer } from '../../support/hub.ts';
import { startReloading } from '../../support/reload.ts';
import { install } from '../../support/store/store.ts';

const desk = { type: 'dummy', parameters: ['a,B,false', 'b,B,true', 'c,B'] };
const start = (alarms: object) => testFlow({ connections: { desk, alarm: { type: 'alarms', alarms } } });
const state = (flow: FlowUnderTest, name: string) => flow.read(`alarm/${name}/state`);

/** What the four parameters of an alarm are in a state: there, active, acknowledged. */
const shown: Readonly<Record<string, string>> = {
  normal: 'false false true',
  unacknowledged: 'true true false',
  acknowledged: 'true true true',
  returned: 'true false false',
};

test('D-37: an alarm has the state of the table, for any history', async (t) => {
  const flow = await start({ a: { when: 'desk/a', delay: 100 } });
  let [expected, isMet, metMs] = ['normal', false, 0];
  fc.assert(
    fc.property(fc.array(fc.constantFrom('on', 'off', 'ack', 'wait', 'long'), { maxLength: 30 }), (steps) => {
      for (const step of steps) {
        if (step === 'wait' || step === 'long') {
          const ms = step === 'wait' ? 50 : 100;
          flow.advance(ms);
          metMs += ms;
          const isRisen = isMet && metMs >= 100;
          if (isRisen && (expected === 'normal' || expected === 'returned')) expected = 'unacknowledged';
        } else if (step === 'ack') {
          flow.set({ 'alarm/a/ack': true });
          if (expected === 'unacknowledged') expected = 'acknowledged';
          if (expected === 'returned') expected = 'normal';
        } else {
          flow.set({ 'desk/a': step === 'on' });
          if (step === 'on' && !isMet) metMs = 0;
          isMet = step === 'on';
          if (!isMet && expected === 'unacknowledged') expected = 'returned';
          if (!isMet && expected === 'acknowledged') expected = 'normal';
        }
        t.is(state(flow, 'a'), expected);
        const values = ['', '/active', '/acknowledged'].map((id) => flow.read(`alarm/a${id}`));
        t.is(values.join(' '), shown[expected]!);
        const counts = ['active', 'unacknowledged'].map((id) => flow.read(`alarm/all/${id}`));
        t.deepEqual(counts, [Number(flow.read('alarm/a/active')), Number(!flow.read('alarm/a/acknowledged'))]);
      }
    }),
  );
  await flow.stop();
});

test('the most urgent alarm comes first: by priority, then unacknowledged ones, then by age', async (t) => {
  const names = ['x', 'y', 'z', 'low'];
  const flow = await testFlow({
    connections: {
      desk: { type: 'dummy', parameters: names.map((name) => `${name},B,false`) },
      alarm: {
        type: 'alarms',
        alarms: Object.fromEntries(
          names.map((name) => [
            name,
            { when: `desk/${name}`, priority: name === 'low' ? 9 : 2, text: `text of ${name}` },
          ]),
        ),
      },
    },
  });
  const top = (priority: number, name: string) =>
    flow.expect({ 'alarm/all/priority': priority, 'alarm/all/text': name && `text of ${name}` });
  top(0, '');
  flow.set({ 'desk/low': true });
  top(9, 'low');
  flow.set({ 'desk/y': true, 'desk/x': true });
  top(2, 'y');
  flow.set({ 'alarm/y/ack': true });
  top(2, 'x');
  flow.expect({ 'alarm/all/active': 3, 'alarm/all/unacknowledged': 2 });
  flow.set({ 'alarm/all/ack': true });
  flow.expect({ 'alarm/all/active': 3, 'alarm/all/unacknowledged': 0 });
  flow.set({ 'desk/y': false, 'desk/x': false });
  top(9, 'low');
  flow.set({ 'desk/low': false });
  t.notThrows(() => top(0, ''));
  await flow.stop();
});

test('an alarm is unknown as long as its parameter is, and right at the start otherwise', async (t) => {
  const flow = await start({ b: { when: 'desk/b' }, c: { when: 'desk/c', is: false } });
  t.is(state(flow, 'b'), 'unacknowledged');
  flow.set({ 'alarm/c/ack': true });
  t.is(state(flow, 'c'), undefined);
  flow.expect({ 'alarm/c/shelved': false });
  flow.set({ 'desk/c': false });
  t.is(state(flow, 'c'), 'unacknowledged');
  t.is(flow.read('alarm/all/text'), 'b', 'an alarm without text says its name');
  await flow.stop();
});

test('a parameter causes the rise of an alarm, and its author the acknowledgement', async (t) => {
  const { start } = await install(t, {
    desk,
    alarm: {
      type: 'alarms',
      alarms: { a: { when: 'desk/a' }, b: { when: 'desk/b', is: false }, c: { when: 'desk/a' } },
    },
  });
  const before = await start();
  const set = (hub: typeof before, address: string, value: unknown) => hub.write(address, value, writer);
  const states = (hub: typeof before) => ['a', 'b', 'c'].map((name) => hub.find(`alarm/${name}/state`)!.value);
  set(before, 'desk/a', true);
  t.is(before.find('alarm/a')!.lastChange!.cause!.parameter.address, 'desk/a');
  set(before, 'alarm/a/ack', true);
  t.is(before.find('alarm/a/state')!.lastChange!.cause!.parameter.address, 'alarm/a/ack');
  set(before, 'desk/b', false);
  set(before, 'desk/b', true);
  t.deepEqual(states(before), ['acknowledged', 'returned', 'unacknowledged']);
  await before.stop();

  const hub = await start();
  await eventually(() => hub.find('alarm/all/active')!.value === 2);
  t.deepEqual(states(hub), ['acknowledged', 'returned', 'unacknowledged'], 'alarms outlive a restart');
  t.is(hub.find('alarm/all/unacknowledged')!.value, 2);
  set(hub, 'desk/a', false);
  set(hub, 'alarm/all/ack', true);
  t.deepEqual(states(hub), ['normal', 'normal', 'normal']);
});

test('a reload keeps alarms, with their delays; only one with another cause restarts', async (t) => {
  const clock = new VirtualClock();
  const flow = (alarms: object) => ({ connections: { desk, alarm: { type: 'alarms', alarms } } });
  const a = { when: 'desk/a', priority: 2 };
  const slow = { when: 'desk/a', delay: '10s' };
  const { hub, reload, takeChanges, value } = await startReloading(
    t,
    { 'flow.json5': flow({ a, slow, other: { when: 'desk/a' } }) },
    { scheduler: clock },
  );
  const swap = (alarms: object) => reload('flow.json5', flow(alarms));
  const states = (...names: string[]) => names.map((name) => value(`alarm/${name}/state`)).join(' ');
  hub.write('desk/a', true, writer);
  hub.write('alarm/a/ack', true, writer);
  clock.advanceTo(6000);
  takeChanges();
  const other = { when: 'desk/b', is: false };
  await swap({ added: { when: 'desk/a' }, a: { ...a, text: 'A' }, slow, other });
  t.is(states('a', 'slow', 'other', 'added'), 'acknowledged normal normal unacknowledged');
  t.deepEqual(
    takeChanges().filter((line) => /^alarm.(a|slow)[=/]/.test(line)),
    [],
    'nobody hears of what goes on',
  );
  t.is(value('alarm/all/text'), 'A');
  clock.advanceTo(9999);
  t.is(states('slow'), 'normal');
  clock.advanceTo(10_000);
  t.is(states('slow'), 'unacknowledged', 'its delay has gone on');

  await swap({ a, slow: { ...slow, delay: '20s' } });
  await swap({ a });
  await swap({ a, slow });
  t.is(states('a', 'slow'), 'acknowledged normal', 'one that was gone begins anew');
  hub.write('desk/a', false, writer);
  hub.write('desk/a', true, writer);
  await swap({ slow });
  clock.advanceTo(19_999);
  t.is(states('slow'), 'normal');
  clock.advanceTo(20_000);
  t.is(states('slow'), 'unacknowledged');
  hub.control('alarm', 'restart', writer);
  t.is(states('slow'), 'unacknowledged', 'a restart by hand loses no alarm');
});

test('a wrong name is reported with all other mistakes', async (t) => {
  const alarms = { 'a//b': { when: 'desk/a' }, c: { when: 5 } };
  t.is((await mistakesOf(t, { connections: { alarm: { type: 'alarms', alarms } } })).length, 2);
});

const mistakes: [alarms: object, mistake: RegExp][] = [
  [{ a: { when: 'desk/d' } }, /^connections\.alarm\.alarms\.a\.when: unknown parameter "desk\/d"/],
  [{ a: { when: 'desk/text' } }, /alarms\.a\.when: expected a parameter of type B, got "desk\/text" \(S\)/],
  [
    { a: { when: 'desk/a', delay: '10 s' } },
    /delay: expected an integer 0\.\.2147483647 \(ms\) or a duration such as "1m30s", got "10 s"/,
  ],
  [{ a: { when: 'desk/a', priority: 0 } }, /priority: expected an integer 1\.\.9, got 0/],
  [{ all: { when: 'desk/a' } }, /alarms\.all: expected a name other than "all": all\/… is reserved for the totals/],
  [
    { a: { when: 'desk/a' }, 'a/active': { when: 'desk/a' }, 'a/b': { when: 'desk/a' } },
    /alarms\["a\/active"\]: expected a name other than "a\/active", which is a parameter of the alarm "a"$/,
  ],
  [{ 'a//b': { when: 'desk/a' } }, /alarms\["a\/\/b"\]: /],
  [{ a: { when: 'alarm/a' } }, /alarms\.a\.when: expected no cycle, got/],
];

for (const [alarms, mistake] of mistakes)
  test(`a mistake is reported: ${JSON.stringify(alarms)}`, async (t) => {
    const reported = await mistakesOf(t, {
      connections: { desk: { ...desk, parameters: [...desk.parameters, 'text'] }, alarm: { type: 'alarms', alarms } },
    });
    t.is(reported.length, 1, reported.join('\n'));
    t.regex(reported[0]!, mistake);
  });

test('a shelved alarm is left out of the totals until its time has expired, and keeps its own state', async (t) => {
  const flow = await start({ a: { when: 'desk/a', priority: 1, text: 'A' }, b: { when: 'desk/b', priority: 2 } });
  const totals = (active: number, unacknowledged: number, shelved: number, text: string) =>
    flow.expect({
      'alarm/all/active': active,
      'alarm/all/unacknowledged': unacknowledged,
      'alarm/all/shelved': shelved,
      'alarm/all/text': text,
    });
  flow.set({ 'desk/a': true });
  totals(2, 2, 0, 'A');
  flow.expect({ 'alarm/a/shelved': false, 'alarm/a/priority': 1, 'alarm/b/priority': 2 });
  flow.set({ 'alarm/a/shelve': 3_600_000 });
  totals(1, 1, 1, 'b');
  flow.expect({ 'alarm/a/shelved': true, 'alarm/a': true, 'alarm/a/state': 'unacknowledged' });
  flow.set({ 'alarm/a/ack': true, 'desk/a': false });
  flow.set({ 'desk/a': true });
  totals(1, 1, 1, 'b');
  flow.advance(3_599_999);
  totals(1, 1, 1, 'b');
  flow.advance(1);
  totals(2, 2, 0, 'A');
  flow.set({ 'alarm/a/shelve': 100 });
  flow.set({ 'alarm/a/shelve': 200 });
  flow.advance(150);
  totals(1, 1, 1, 'b');
  flow.set({ 'alarm/a/shelve': 0 });
  totals(2, 2, 0, 'A');
  flow.set({ 'alarm/a/shelve': 2_000_000_000 });
  flow.advance(86_399_999);
  totals(1, 1, 1, 'b');
  flow.advance(1);
  t.notThrows(() => totals(2, 2, 0, 'A'), 'nothing is shelved for more than a day');
  await flow.stop();
});

test('a shelf time goes on over a reload of the connection', async (t) => {
  const clock = new VirtualClock();
  const flow = (text: string) => ({
    connections: { desk, alarm: { type: 'alarms', alarms: { a: { when: 'desk/a', text } } } },
  });
  const { hub, reload, value } = await startReloading(t, { 'flow.json5': flow('one') }, { scheduler: clock });
  hub.write('desk/a', true, writer);
  hub.write('alarm/a/shelve', 1000, writer);
  clock.advanceTo(600);
  await reload('flow.json5', flow('two'));
  t.deepEqual([value('alarm/a/shelved'), value('alarm/all/active')], [true, 0]);
  clock.advanceTo(999);
  t.is(value('alarm/all/shelved'), 1);
  clock.advanceTo(1000);
  t.deepEqual([value('alarm/a/shelved'), value('alarm/all/active'), value('alarm/all/text')], [false, 1, 'two']);
});
