// Rules that operators switch off and on while the hub runs.

import test from 'ava';
import type { ParameterNode } from '../../../../lib/graph/parameter-node.ts';
import { HubError } from '../../../../lib/model/error.ts';
import type { Origin } from '../../../../lib/model/parameter.ts';
import { startReloading } from '../../../support/reload.ts';

const desk = { type: 'dummy', parameters: ['a,I', 'b,I', 'c,I', 'd,I'] };
const copy = { name: 'copy', from: 'desk/a', to: 'desk/b' };
const ann: Origin = { kind: 'client', name: 'api 10.0.0.7' };

test('a rule that is switched off stops listening, and restarts when it is switched on', async (t) => {
  const sum = {
    name: 'sum',
    from: 'desk/a',
    pipe: [{ scan: { expression: 'sum + value', seed: 0 } }],
    to: 'desk/b',
  };
  const { hub, write, value } = await startReloading(t, { 'a.json5': { connections: { desk }, rules: [sum] } });
  const source = hub.find('desk/a') as ParameterNode;
  write('desk/a', 1);
  write('desk/a', 2);
  t.is(value('desk/b'), 3);
  const off = hub.switchRule('sum', undefined, false, ann);
  t.like(off, { name: 'sum', enabled: false, state: 'disabled', reason: 'disabled by api 10.0.0.7' });
  t.is(source.listenerCount, 0);
  write('desk/a', 3);
  t.is(value('desk/b'), 3);
  t.deepEqual(hub.runsOf('sum')[0]!.runs, []);
  t.like(hub.switchRule('sum', undefined, true, ann), { enabled: true, state: 'running', reason: '' });
  t.is(value('desk/b'), 3, 'it hears changes only');
  write('desk/a', 4);
  t.is(value('desk/b'), 4);
  t.like(hub.switchRule('sum', undefined, true, ann), { enabled: true }, 'once more changes nothing');
  write('desk/a', 5);
  t.is(value('desk/b'), 9);
});

test('rules on one source run top to bottom, whichever was switched on last', async (t) => {
  const rules = ['1', '2', '3'].map((map) => ({ name: map, from: 'desk/a', map, to: 'desk/b' }));
  const { hub, write, takeChanges } = await startReloading(t, { 'a.json5': { connections: { desk }, rules } });
  hub.switchRule('1', undefined, false, ann);
  write('desk/a', 1);
  t.deepEqual(takeChanges(), ['desk/a=1', 'desk/b=2', 'desk/b=3']);
  hub.switchRule('1', undefined, true, ann);
  write('desk/a', 2);
  t.deepEqual(takeChanges(), ['desk/a=2', 'desk/b=1', 'desk/b=2', 'desk/b=3']);
});

test('rules that their file disables are listed with their folders, and can be switched on', async (t) => {
  const rules = [
    { folder: 'Studio 1', enabled: false, rules: [{ folder: 'Lamps', rules: [copy] }] },
    { name: 'both', enabled: false, from: { x: 'desk/a', y: 'desk/b' }, map: 'x + y', to: ['desk/c', 'desk/d'] },
  ];
  const { hub, write, value } = await startReloading(t, { 'a.json5': { connections: { desk }, rules } });
  const off = { enabled: false, state: 'disabled', reason: '', faults: 0, dropped: 0 } as const;
  const file = hub.rules()[0]!.file;
  t.deepEqual(
    hub.rules().map(({ place, ...rule }) => rule),
    [
      { name: 'copy', file, folder: ['Studio 1', 'Lamps'], from: ['desk/a'], to: ['desk/b'], ...off },
      {
        ...{ name: 'both', file, folder: [], from: ['desk/a', 'desk/b'], to: ['desk/c', 'desk/d'], ...off },
        ...{ map: 'x + y', names: { x: 'desk/a', y: 'desk/b' } },
      },
    ],
  );
  hub.switchRule('copy', undefined, true, ann);
  write('desk/a', 1);
  t.deepEqual([value('desk/b'), value('desk/c')], [1, undefined]);
});

test('a switched rule stays so over reloads until its text changes', async (t) => {
  const files = { 'a.json5': { connections: { desk }, rules: [copy] }, 'b.json5': { rules: [] } };
  const { hub, reload, write, value } = await startReloading(t, files);
  const isOn = () => hub.rules()[0]!.enabled;
  hub.switchRule('copy', undefined, false, ann);
  const more = { rules: [{ name: 'more', from: 'desk/a', to: 'desk/c' }] };
  t.deepEqual((await reload('b.json5', more)).rules, { added: ['more'], removed: [], changed: [] });
  t.false(isOn());
  write('desk/a', 1);
  t.deepEqual([value('desk/b'), value('desk/c')], [undefined, 1]);
  await reload('a.json5', { connections: { desk }, rules: [{ ...copy, name: 'other' }, copy] });
  t.false(hub.rules()[1]!.enabled);
  const { rules } = await reload('a.json5', { connections: { desk }, rules: [{ ...copy, map: 'value' }] });
  t.deepEqual(rules, { added: ['copy'], removed: ['other'], changed: [] });
  t.true(isOn());
  write('desk/a', 2);
  t.is(value('desk/b'), 2);
});

test('a running rule that its file disables stops, and nothing else restarts', async (t) => {
  const other = { name: 'other', from: 'desk/a', pipe: [{ skip: 1 }], to: 'desk/c' };
  const flow = { connections: { desk }, rules: [copy, other] };
  const { hub, reload, write, value } = await startReloading(t, { 'a.json5': flow });
  write('desk/a', 1);
  const { rules } = await reload('a.json5', { ...flow, rules: [{ ...copy, enabled: false }, other] });
  t.deepEqual(rules, { added: [], removed: ['copy'], changed: [] });
  t.deepEqual(
    hub.rules().map(({ enabled }) => enabled),
    [false, true],
  );
  write('desk/a', 2);
  t.deepEqual([value('desk/b'), value('desk/c')], [1, 2]);
});

test('a single rule can be switched on in safe mode', async (t) => {
  const { hub, write, value } = await startReloading(
    t,
    { 'a.json5': { connections: { desk }, rules: [copy, { ...copy, name: 'other', to: 'desk/c' }] } },
    { safe: true },
  );
  hub.switchRule('other', undefined, true, ann);
  write('desk/a', 1);
  t.deepEqual([value('desk/b'), value('desk/c')], [undefined, 1]);
});

test('an unknown name, or one of several rules, is reported', async (t) => {
  const { hub } = await startReloading(t, {
    'a.json5': { connections: { desk }, rules: [copy] },
    'b.json5': { rules: [{ ...copy, to: 'desk/c' }] },
    'c.json5': { rules: [copy, { ...copy, to: 'desk/d' }].map((rule) => ({ ...rule, name: 'twins' })) },
  });
  const [a, , c] = hub.rules().map(({ file }) => file) as [string, string, string];
  const refuse = (name: string, file?: string) =>
    t.throws(() => hub.switchRule(name, file, false, ann), { instanceOf: HubError })!;
  t.like(refuse('cpoy'), { code: 'not-found', message: 'unknown rule "cpoy", did you mean "copy"?' });
  t.like(refuse('copy'), {
    code: 'conflict',
    message: 'rule: expected the file as well, but 2 rules are named "copy"',
  });
  t.regex(refuse('copy', a.replace('a.json5', 'd.json5')).message, /^unknown file of rule "copy" .*did you mean/);
  t.like(refuse('twins', c), { code: 'conflict' });
  hub.switchRule('copy', a, false, ann);
  t.deepEqual(
    hub.rules().map(({ enabled }) => enabled),
    [false, true, true, true],
  );
});
