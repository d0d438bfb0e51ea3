// Rules in shadow: what they would write is noted beside what was written, and nothing of it reaches what is live.

import test, { type ExecutionContext } from 'ava';
import type { ParameterNode } from '../../../lib/graph/parameter-node.ts';
import type { Deviation } from '../../../lib/model/reports/reload-report.ts';
import { VirtualClock } from '../../../lib/testing/virtual-clock.ts';
import { writer } from '../../support/hub.ts';
import { startReloading } from '../../support/reload.ts';

const parameters = ['mic,B,false', 'level,F,0', 'lamp,B', 'sum,I,0', 'other,I,0', 'echo,B', 'bell,T', 'ding,T'];
const connections = { desk: { type: 'dummy', parameters }, clock: { type: 'timer', timers: [1000] } };
const lamp = { name: 'lamp', from: 'desk/mic', to: 'desk/lamp' };
const echo = { name: 'echo', from: 'desk/lamp', to: 'desk/echo' };

async function start(t: ExecutionContext, rules: unknown[], more: Record<string, unknown> = {}) {
  const clock = new VirtualClock();
  const files = { 'a.json5': { connections, rules }, ...more };
  const reloading = await startReloading(t, files, { scheduler: clock });
  const { hub } = reloading;
  const logAs = () => hub.shadow()!.deviations.map(lineOf);
  return { ...reloading, clock, logAs, wait: (ms: number) => clock.advanceTo(clock.now() + ms) };
}

function lineOf({ address, done, would }: Deviation): string {
  return `${address}: ${done.value}, would be ${would.value} by ${would.origin?.name}`;
}

test('a shadow rule writes nothing, and its would-be write is noted next to the actual value', async (t) => {
  const { hub, write, takeChanges, logAs } = await start(t, [
    lamp,
    echo,
    { name: 'sum', from: 'desk/level', map: 'value + 1', to: 'desk/sum', shadow: true },
  ]);
  write('desk/level', 4);
  t.deepEqual(takeChanges(), ['desk/level=4']);
  t.deepEqual(logAs(), ['desk/sum: 0, would be 5 by sum']);
  write('desk/sum', 5);
  t.deepEqual(logAs().slice(1), ['desk/sum: 5, would be 5 by sum'], 'both are the same from then on');
  t.deepEqual(hub.shadow()!.parameters, [{ address: 'desk/sum', count: 2, differs: false }]);
});

test('a shadow rule replaces the live one of its name, and its consequences are reported as well', async (t) => {
  const changed = { name: 'lamp', from: 'desk/mic', when: 'value', to: 'desk/lamp', shadow: true };
  const { hub, write, takeChanges, logAs } = await start(t, [lamp, echo, changed]);
  write('desk/mic', true);
  t.deepEqual(takeChanges(), ['desk/mic=true', 'desk/lamp=true', 'desk/echo=true']);
  t.deepEqual(logAs(), [], 'both do the same');
  write('desk/mic', false);
  t.deepEqual(takeChanges(), ['desk/mic=false', 'desk/lamp=false', 'desk/echo=false']);
  t.deepEqual(logAs(), ['desk/lamp: false, would be true by lamp', 'desk/echo: false, would be true by echo']);
  t.deepEqual(
    hub.rules().map(({ name, shadow }) => [name, shadow]),
    [
      ['lamp', undefined],
      ['echo', undefined],
      ['lamp', true],
    ],
  );
  t.is(hub.runsOf('lamp').length, 2);
});

test('D-39: a file in shadow writes, fires and loops nowhere; its neighbours are not even observed', async (t) => {
  const file = {
    shadow: true,
    rules: [
      { name: 'loops', from: 'desk/sum', map: 'value + 1', to: 'desk/sum' },
      { name: 'fires', from: 'desk/bell', to: 'desk/ding' },
      { name: 'fails', from: 'desk/other', map: "int('x' + string(value))", to: 'desk/other' },
    ],
  };
  const { hub, lines, write, value, takeChanges, logAs } = await start(t, [lamp], { 'b.json5': file });
  write('desk/sum', 1);
  write('desk/bell', 1);
  write('desk/other', 1);
  t.deepEqual(takeChanges(), ['desk/sum=1', 'desk/bell=1', 'desk/other=1']);
  t.deepEqual(logAs(), ['desk/sum: 1, would be 65 by loops', 'desk/ding: 0, would be 1 by fires']);
  t.is(value('desk/sum'), 1);
  const warnings = lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
  t.true(
    warnings.every((message) => message.startsWith('in shadow: ')),
    warnings.join(),
  );
  t.regex(warnings.join(), /rule loop: "loops".*rule "fails"/s);
  t.deepEqual(hub.ruleTotals, { faults: 0, dropped: 0 });
  t.like(
    hub.rules().find(({ name }) => name === 'loops'),
    { state: 'limited', shadow: true },
  );
  const observers = (address: string) => (hub.find(address) as ParameterNode).listenerCount;
  t.is(observers('desk/mic'), 1);
  t.is(observers('desk/lamp'), 0);
});

test('delays and timers run in shadow, each next to the live one', async (t) => {
  const starts = { name: 'starts', from: 'desk/mic', map: '1000', to: 'clock/timer/1/start' };
  const rings = { name: 'rings', from: 'clock/timer/1/trigger', map: 'true', to: 'desk/echo' };
  const later = { name: 'later', from: 'desk/mic', pipe: [{ delay: '5s' }], to: 'desk/lamp' };
  const { write, logAs, wait, value } = await start(t, [
    starts,
    rings,
    later,
    { ...starts, map: '3000', shadow: true },
    { ...later, pipe: [{ delay: '2s' }], shadow: true },
  ]);
  write('desk/mic', true);
  wait(1500);
  t.is(value('desk/echo'), true);
  t.deepEqual(logAs(), [
    'clock/timer/1/start: 1000, would be 3000 by starts',
    'clock/timer/1/trigger: 1, would be 0 by undefined',
    'desk/echo: true, would be undefined by undefined',
  ]);
  wait(1000);
  t.deepEqual(logAs().slice(3), ['desk/lamp: undefined, would be true by later']);
  wait(4000);
  t.is(value('desk/lamp'), true);
  t.deepEqual(logAs().slice(4), [
    'clock/timer/1/trigger: 0, would be 1 by clock',
    'desk/echo: true, would be true by rings',
    'desk/lamp: true, would be true by later',
  ]);
});

test('named sources see a whole turn in shadow, and writes of clients to a destination count on both sides', async (t) => {
  const both = { name: 'both', from: { a: 'desk/level', b: 'desk/other' }, map: 'a + b', to: 'desk/sum' };
  const { hub, write, logAs } = await start(t, [both, { ...both, map: 'a - b', shadow: true }]);
  hub.turn(() => {
    write('desk/level', 5);
    write('desk/other', 2);
  });
  t.deepEqual(logAs(), ['desk/sum: 7, would be 3 by both']);
  write('desk/sum', 3);
  t.deepEqual(logAs().slice(1), ['desk/sum: 3, would be 3 by both']);
});

test('explain has the would-be change, with its causes', async (t) => {
  const { hub, write } = await start(t, [lamp, { ...lamp, map: '!value', shadow: true }]);
  t.is(hub.wouldBe('desk/lamp'), undefined);
  write('desk/mic', true);
  const would = hub.wouldBe('desk/lamp')!;
  t.like(would, { value: false, origin: { kind: 'rule', name: 'lamp' } });
  t.is(would.cause!.parameter.address, 'desk/mic');
  t.is(hub.wouldBe('desk/mic'), undefined, 'it is as it is live');
  write('desk/mic', false);
  write('desk/lamp', true);
  t.true(hub.wouldBe('desk/lamp')!.value);
});

test('memory is limited: of many deviations the newest are kept', async (t) => {
  const { hub, write } = await start(t, [{ from: 'desk/level', map: 'value + 1', to: 'desk/sum', shadow: true }]);
  for (let level = 1; level <= 2500; level++) {
    write('desk/level', level);
    hub.shadow();
  }
  const { count, deviations } = hub.shadow()!;
  t.is(count, 2500);
  t.is(deviations.length, 1000);
  t.is(deviations.at(-1)!.would.value, 2501);
});

test('a rule in shadow cannot be switched by hand', async (t) => {
  const { hub } = await start(t, [{ ...lamp, shadow: true }]);
  t.throws(() => hub.switchRule('lamp', undefined, false, writer), {
    message: 'rule: expected a live rule, but "lamp" runs in shadow according to its flow file',
  });
  t.throws(() => hub.switchRule('lamb', undefined, false, writer), { message: /unknown rule "lamb"/ });
});
