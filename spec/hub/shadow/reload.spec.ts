// A reload in shadow: what the files have changed is tried beside what runs, until a reload takes it over.

import test from 'ava';
import type { Deviation } from '../../../lib/model/reports/reload-report.ts';
import { VirtualClock } from '../../../lib/testing/virtual-clock.ts';
import { eventually } from '../../support/deadline.ts';
import { startReloading } from '../../support/reload.ts';

const desk = { type: 'dummy', parameters: ['mic,B,false', 'lamp,B', 'sign,S', 'echo,B', 'level,F,0'] };
const lamp = { name: 'lamp', from: 'desk/mic', to: 'desk/lamp' };
const echo = { name: 'echo', from: 'desk/lamp', to: 'desk/echo' };
const sign = { name: 'sign', from: 'desk/level', map: 'string(value)', to: 'desk/sign' };

function lineOf({ address, done, would }: Deviation): string {
  return `${address}: ${done.value}, would be ${would.value}`;
}

test('a changed, an added and a removed rule run in shadow, and a reload makes exactly that live', async (t) => {
  const files = { 'a.json5': { connections: { desk }, rules: [lamp, echo, sign] } };
  const { hub, save, reload, write, value, lines } = await startReloading(t, files, { scheduler: new VirtualClock() });
  const added = { name: 'added', from: 'desk/more', to: 'desk/level' };
  const more = { ...desk, parameters: [...desk.parameters, 'more,F'] };
  const changed = { connections: { desk: more }, rules: [{ ...lamp, map: '!value' }, echo, added] };
  await save('a.json5', changed);
  const report = await hub.reloadInShadow({ kind: 'client', name: 'ann' });
  t.like(report, { kind: 'reload', rules: ['lamp', 'added'], left: ['sign'], notInShadow: [], count: 0 });
  t.is(hub.find('desk/more'), undefined);
  write('desk/mic', true);
  write('desk/level', 2);
  t.deepEqual(hub.shadow()!.deviations.map(lineOf), [
    'desk/lamp: true, would be false',
    'desk/echo: true, would be false',
    'desk/sign: 2, would be undefined',
  ]);
  t.deepEqual(
    hub
      .rules()
      .filter(({ shadow }) => shadow)
      .map(({ name }) => name),
    ['lamp', 'added'],
  );
  t.regex(lines.map(({ message }) => message).join('\n'), /reloaded in shadow: 2 rules, 1 removed/);

  t.deepEqual((await reload('a.json5', changed)).rules, { added: ['added'], removed: ['sign'], changed: ['lamp'] });
  t.is(hub.shadow(), undefined);
  write('desk/mic', false);
  write('desk/level', 3);
  t.deepEqual([value('desk/lamp'), value('desk/echo'), value('desk/sign')], [true, true, '2']);
});

test('in shadow, counters count on, latches stay and alarms wait for their acknowledgement, as they do live', async (t) => {
  const core = {
    type: 'virtual-core',
    inputs: { lamp: 'desk/lamp', sign: 'desk/echo' },
    outputs: {
      count: { block: 'CTU', up: 'lamp', reset: 'sign', pv: 3 },
      latch: { block: 'SR', set: 'lamp', reset: 'sign' },
      off: { block: 'TOF', in: 'lamp', pt: '5s' },
    },
  };
  const alarm = { type: 'alarms', alarms: { lamp: { when: 'desk/lamp' } } };
  const connections = { desk: { ...desk, parameters: [...desk.parameters, 'off,B'] }, core, alarm };
  const clock = new VirtualClock();
  const files = { 'a.json5': { connections, rules: [lamp] } };
  const { hub, save, write, value } = await startReloading(t, files, { scheduler: clock });
  const on = (ms: number) => {
    write('desk/mic', true);
    write('desk/mic', false);
    clock.advanceTo(clock.now() + ms);
  };
  write('desk/echo', false);
  write('desk/mic', false);
  for (let times = 0; times < 3; times++) on(6000); // the first value counts as no edge
  t.deepEqual(['core/count/count', 'core/latch', 'alarm/lamp/state'].map(value), [2, true, 'returned']);
  await save('a.json5', { connections, rules: [{ ...lamp, to: ['desk/lamp', 'desk/off'] }] });
  await hub.reloadInShadow();
  on(6000);
  write('desk/echo', true);
  write('alarm/all/ack', true);
  on(0);
  const different = new Set(hub.shadow()!.deviations.map(({ address }) => address));
  t.deepEqual([...different], ['desk/off'], 'nothing else is different');
  t.is(value('core/latch'), false);
});

test('after a reload in shadow a save runs in shadow too, until somebody reloads', async (t) => {
  const files = { 'a.json5': { connections: { desk }, rules: [lamp] } };
  const { hub, save, write, value } = await startReloading(t, files, { watch: true });
  const by = { kind: 'client', name: 'ann' } as const;
  t.like(await hub.reloadInShadow(by), { rules: [], left: [] });
  await save('a.json5', { connections: { desk }, rules: [{ ...lamp, map: '!value' }] });
  await eventually(() => hub.shadow()!.rules.includes('lamp'));
  write('desk/mic', true);
  t.is(value('desk/lamp'), true);
  t.deepEqual((await hub.reload(by)).rules.changed, ['lamp']);
  write('desk/mic', false);
  t.is(value('desk/lamp'), true);
});

test('mistakes in files for the shadow are reported, and nothing changes', async (t) => {
  const files = { 'a.json5': { connections: { desk }, rules: [lamp] } };
  const { hub, save, lines } = await startReloading(t, files);
  await save('a.json5', { connections: { desk }, rules: [{ ...lamp, map: 'valu' }] });
  await t.throwsAsync(hub.reloadInShadow({ kind: 'client', name: 'ann' }), { message: /did you mean/ });
  t.is(hub.shadow(), undefined);
  t.true(lines.some(({ message }) => message === 'reload failed: the previous configuration remains active'));
});

test('a flow in TypeScript runs in shadow: a rule of it, or all of it', async (t) => {
  const flow = (more: string, shadow: string) => `
    import { map } from ${JSON.stringify(import.meta.resolve('rxjs'))};
    export default {
      ${more}
      rules: (on) => [
        { name: 'inverse', from: on.flag('desk/mic').pipe(map((open) => !open)), to: 'desk/lamp'${shadow} },
        { name: 'data', from: 'desk/level', map: 'string(value)', to: 'desk/sign'${shadow} },
      ],
    };`;
  const files = { 'a.json5': { connections: { desk } }, 'b.ts': flow('', ', shadow: true') };
  const { hub, reload, write, value } = await startReloading(t, files, { scheduler: new VirtualClock() });
  write('desk/mic', true);
  write('desk/level', 1);
  const expected = ['desk/lamp: undefined, would be false', 'desk/sign: undefined, would be 1'];
  t.deepEqual(hub.shadow()!.deviations.map(lineOf), expected);
  await reload('b.ts', flow('shadow: true,', ''));
  t.deepEqual(hub.shadow()!.deviations, [], 'it has begun anew');
  write('desk/mic', false);
  write('desk/level', 2);
  t.deepEqual(hub.shadow()!.deviations.map(lineOf), [
    'desk/lamp: undefined, would be true',
    'desk/sign: undefined, would be 2',
  ]);
  t.is(value('desk/lamp'), undefined);
  await reload('b.ts', flow('', ''));
  t.is(hub.shadow(), undefined);
  write('desk/mic', true);
  t.is(value('desk/lamp'), false);
});
