import test from 'ava';
import { VirtualTimeScheduler } from 'rxjs';
import { startReloading } from '../support/reload.ts';

const none = { added: [], removed: [], changed: [] };
const dummy = (...parameters: string[]) => ({ type: 'dummy', parameters });

test('a running timer continues, and so do rules of other files', async (t) => {
  const scheduler = new VirtualTimeScheduler();
  const { hub, write, reload, takeChanges } = await startReloading(
    t,
    {
      'clock.json5': {
        connections: { clock: { type: 'timer', timers: [10_000], pulses: [{ interval: 4000 }] }, lamps: dummy('on,I') },
        rules: [{ from: 'clock/timer/1/trigger', map: '1', to: 'lamps/on' }],
      },
      'desk.json5': { connections: { desk: dummy('a', 'b') }, rules: [{ from: 'desk/a', to: 'desk/b' }] },
    },
    { scheduler },
  );
  const fired: string[] = [];
  hub.changes$.subscribe(({ parameter }) => fired.push(`${parameter.address} ${scheduler.now()}`));
  write('clock/timer/1/start', true);
  scheduler.maxFrames = 6000;
  scheduler.flush();
  await reload('desk.json5', { connections: { desk: dummy('a', 'c') }, rules: [{ from: 'desk/a', to: 'desk/c' }] });
  await t.throwsAsync(reload('desk.json5', '{'));
  takeChanges();
  write('desk/a', 'x');
  t.deepEqual(takeChanges(), ['desk/a=x', 'desk/c=x']);
  scheduler.maxFrames = 10_000;
  scheduler.flush();
  t.deepEqual(
    fired.filter((line) => !line.startsWith('desk')),
    [
      'clock/timer/1/start 0',
      'clock/pulse/1 4000',
      'clock/pulse/1 8000',
      'clock/timer/1/trigger 10000',
      'lamps/on 10000',
    ],
  );
});

test('a first default value of an unknown parameter starts no rule', async (t) => {
  const rules = [{ from: 'desk/a', to: 'desk/b' }];
  const { reload, write, takeChanges } = await startReloading(t, {
    'a.json5': { connections: { desk: dummy('a', 'b') }, rules },
  });
  await reload('a.json5', { connections: { desk: dummy('a,S,x', 'b') }, rules });
  t.deepEqual(takeChanges(), ['desk/a=x']);
  write('desk/a', 'y');
  t.deepEqual(takeChanges(), ['desk/a=y', 'desk/b=y']);
});

test('rules on one source run in the order of the file, including unchanged ones', async (t) => {
  const rules = (...names: string[]) => names.map((name) => ({ name, from: 'desk/a', map: `"${name}"`, to: 'desk/b' }));
  const connections = { desk: dummy('a,I', 'b') };
  const { reload, write, takeChanges } = await startReloading(t, {
    'a.json5': { connections, rules: rules('one', 'three') },
  });
  t.deepEqual((await reload('a.json5', { connections, rules: rules('one', 'two', 'three') })).rules, {
    ...none,
    added: ['two'],
  });
  write('desk/a', 1);
  t.deepEqual(takeChanges(), ['desk/a=1', 'desk/b=one', 'desk/b=two', 'desk/b=three']);
  await reload('a.json5', { connections, rules: rules('three', 'one', 'two') });
  write('desk/b', '');
  takeChanges();
  write('desk/a', 2);
  t.deepEqual(takeChanges(), ['desk/a=2', 'desk/b=three', 'desk/b=one', 'desk/b=two']);
});

test('the state of a rule outlives reloads: delays, previous values, sets of several sources, in JSON5 and TypeScript', async (t) => {
  const scheduler = new VirtualTimeScheduler();
  const connections = { desk: dummy('a,I', 'b,I', 'late,I', 'step,I', 'sum,I', 'copy,I', 'text') };
  const rules = [
    { name: 'late', from: 'desk/a', pipe: [{ delay: '10s' }], to: 'desk/late' },
    { name: 'step', from: 'desk/a', map: 'value - previous', to: 'desk/step' },
    { name: 'sum', from: { a: 'desk/a', b: 'desk/b' }, map: 'a + b', to: 'desk/sum' },
  ];
  const { reload, write, takeChanges } = await startReloading(
    t,
    {
      'a.json5': { connections, rules },
      'b.ts': "export default { rules: (on) => [{ name: 'copy', from: on.integer('desk/b'), to: 'desk/copy' }] };",
      'package.json': { type: 'module' },
    },
    { scheduler },
  );
  write('desk/a', 1);
  write('desk/b', 2);
  scheduler.schedule(() => {}, 5000); // virtual time stands at the last action
  scheduler.maxFrames = 5000;
  scheduler.flush();
  const more = [{ name: 'first', from: 'desk/a', map: '"first"', to: 'desk/text' }, ...rules];
  t.deepEqual((await reload('a.json5', { connections, rules: more })).rules, { ...none, added: ['first'] });
  takeChanges();
  write('desk/a', 5);
  t.deepEqual(takeChanges(), ['desk/a=5', 'desk/text=first', 'desk/step=4', 'desk/sum=7']);
  scheduler.maxFrames = 10_000;
  scheduler.flush();
  t.deepEqual(takeChanges(), ['desk/late=1']);
  const program = "export default { rules: (on) => [{ name: 'copy', from: on.integer('desk/a'), to: 'desk/copy' }] };";
  t.deepEqual((await reload('b.ts', program)).rules, { ...none, changed: ['copy'] });
  write('desk/b', 3);
  write('desk/a', 6);
  t.deepEqual(takeChanges(), ['desk/b=3', 'desk/sum=8', 'desk/a=6', 'desk/step=1', 'desk/copy=6', 'desk/sum=9']);
});

test('a rule that only reads a parameter restarts when the parameter is replaced', async (t) => {
  const rules = [{ name: 'looks', from: 'desk/a', map: 'param("other/x")', to: 'desk/b' }];
  const flow = (line: string) => ({ connections: { desk: dummy('a,I', 'b'), other: dummy(line) }, rules });
  const { reload, write, value } = await startReloading(t, { 'a.json5': flow('x,I,1') });
  t.deepEqual((await reload('a.json5', flow('x,S,one'))).rules, { ...none, changed: ['looks'] });
  write('desk/a', 1);
  t.is(value('desk/b'), 'one');
});

test('one of two equal rules can be removed', async (t) => {
  const rule = { from: 'desk/go', to: 'desk/b' };
  const connections = { desk: dummy('go,T', 'b,T') };
  const { reload, write, takeChanges } = await startReloading(t, {
    'a.json5': { connections, rules: [rule, rule] },
  });
  await reload('a.json5', { connections, rules: [rule] });
  write('desk/go', 1);
  t.deepEqual(takeChanges(), ['desk/go=1', 'desk/b=1']);
});

test('in safe mode no rule runs, also after a reload', async (t) => {
  const flow = { connections: { desk: dummy('a', 'b') }, rules: [{ from: 'desk/a', to: 'desk/b' }] };
  const { reload, write, takeChanges, lines } = await startReloading(t, { 'a.json5': flow }, { safe: true });
  write('desk/a', 'x');
  await reload('a.json5', { ...flow, rules: [...flow.rules, { from: 'desk/a', to: 'desk/a' }] });
  write('desk/a', 'y');
  t.deepEqual(takeChanges(), ['desk/a=x', 'desk/a=y']);
  t.true(lines.some(({ message }) => message === 'safe mode: 1 rule disabled'));
  await t.throwsAsync(reload('a.json5', { ...flow, rules: [{ from: 'desk/z', to: 'desk/b' }] }));
});
