// The start of rules: `atStart`, `startWith`, and `hub/started`.

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { runFlowTests } from '../../../../lib/testing/run-tests.ts';
import { createFolder } from '../../../support/folder.ts';
import { startTestHub, writer } from '../../../support/hub.ts';
import { startReloading } from '../../../support/reload.ts';
import { install } from '../../../support/store/store.ts';

const desk = (...parameters: string[]) => ({ desk: { type: 'dummy', parameters } });

test('the example of docs/rules.md passes its test', async (t) => {
  const readme = await readFile(resolve(import.meta.dirname, '../../../../docs/rules.md'), 'utf8');
  const [example = ''] = /\{\n {2}connections: \{\n {4}desk: [^\n]*'starts,I,0'[\s\S]*?\n\}\n/.exec(readme) ?? [];
  const folder = await createFolder(t, { 'flow.json5': example });
  const results = [];
  for await (const { isPassed, timeline } of runFlowTests([folder])) results.push([isPassed, timeline]);
  t.deepEqual(results, [[true, '']]);
});

/** The values that rules make of a start, by Parameter ID. */
async function valuesAtStart(t: ExecutionContext, parameters: string[], rules: object[]) {
  const hub = await startTestHub(t, { connections: desk(...parameters), rules });
  return (id: string) => hub.find(`desk/${id}`)?.value;
}

test('atStart: a rule runs once with the known values, then with changes', async (t) => {
  const scan = { scan: { seed: 0, expression: 'sum + 1' } };
  const rules = [
    { from: 'desk/a', atStart: true, map: 'value * 2', to: 'desk/b' },
    { from: 'desk/b', atStart: true, pipe: [scan], to: 'desk/count' },
  ];
  const hub = await startTestHub(t, { connections: desk('a,F,1', 'b,F', 'count,I'), rules });
  const values = () => ['b', 'count'].map((id) => hub.find(`desk/${id}`)?.value);
  t.deepEqual(values(), [2, 1]); // a change has run the second before its turn to begin
  hub.write('desk/a', 5, writer);
  t.deepEqual(values(), [10, 2]);
});

test('atStart: writes at the start reach rules above and below; named sources give one consistent set', async (t) => {
  const value = await valuesAtStart(
    t,
    ['a,B,true', 'b,B', 'c,B', 'runs,I', 'd,B'],
    [
      { from: 'desk/c', to: 'desk/d' },
      { from: { b: 'desk/b', a: 'desk/a' }, atStart: true, map: 'a && b', to: 'desk/c' },
      { from: { b: 'desk/b', a: 'desk/a' }, map: "param('desk/runs', 0) + 1", to: 'desk/runs' },
      { from: 'desk/a', atStart: true, to: 'desk/b' },
    ],
  );
  t.deepEqual(['b', 'c', 'd', 'runs'].map(value), [true, true, true, 1]);
});

test('atStart: a list gives its latest value; triggers count as fired in a list, and as not fired with names', async (t) => {
  const value = await valuesAtStart(
    t,
    ['a,I,1', 'b,I,2', 'c,I', 'go,T', 'newest,I', 'fired,I', 'named,B', 'before,I'],
    [
      { from: ['desk/a', 'desk/b', 'desk/c', 'desk/go'], atStart: true, to: 'desk/newest' },
      { from: 'desk/go', atStart: true, map: '7', to: 'desk/fired' },
      { from: { go: 'desk/go', a: 'desk/a' }, atStart: true, map: 'go', to: 'desk/named' },
      { from: 'desk/a', atStart: true, map: 'previous', to: 'desk/before' },
    ],
  );
  t.deepEqual(['newest', 'fired', 'named', 'before'].map(value), [2, 7, false, undefined]);
});

test('atStart: a rule with an unknown source reports what it waits for, and its trace shows the start', async (t) => {
  const rules = [
    { name: 'one', from: 'desk/a', atStart: true, to: 'desk/c' },
    { name: 'names', from: { b: 'desk/b', a: 'desk/a' }, atStart: true, map: 'a + b', to: 'desk/c' },
    { name: 'runs', from: 'desk/b', atStart: true, to: 'desk/d' },
  ];
  const hub = await startTestHub(t, { connections: desk('a,F', 'b,F,1', 'c,F', 'd,F'), rules });
  const waiting = { state: 'waiting', reason: 'waits for desk/a, which is unknown' };
  for (const status of hub.rules().slice(0, 2)) t.like(status, waiting);
  t.like(hub.runsOf('one')[0]!.runs[0], { source: undefined, outcome: 'waited', error: waiting.reason });
  const [run] = hub.runsOf('runs')[0]!.runs;
  t.like(run, { source: undefined, outcome: 'wrote', result: 1, to: ['desk/d'] });
  t.true(Math.abs(run!.time - Date.now()) < 60_000);
  hub.write('desk/a', 2, writer);
  t.is(hub.find('desk/c')?.value, 3);
  t.deepEqual(
    hub.rules().map(({ state }) => state),
    ['running', 'running', 'running'],
  );
});

test('atStart: a rule runs again when it is added, changed or switched on, and no other rule does', async (t) => {
  const counting = (id: string, step: number) => ({
    name: id,
    from: 'desk/a',
    atStart: true,
    map: `param('desk/${id}') + ${step}`,
    to: `desk/${id}`,
  });
  const flow = (...rules: object[]) => ({ connections: desk('a,I,0', 'x,I,0', 'y,I,0'), rules });
  const { hub, reload, value } = await startReloading(t, { 'a.json5': flow(counting('x', 1)) });
  const values = () => [value('desk/x'), value('desk/y')];
  t.deepEqual(values(), [1, 0]);
  await reload('a.json5', flow(counting('x', 1), counting('y', 1)));
  t.deepEqual(values(), [1, 1]);
  await reload('a.json5', flow(counting('x', 1), counting('y', 10)));
  t.deepEqual(values(), [1, 11]);
  hub.switchRule('x', undefined, false, writer);
  hub.switchRule('x', undefined, true, writer);
  t.deepEqual(values(), [2, 11]);
});

test('startWith waits until all rules listen, in a step and in a stream', async (t) => {
  const value = await valuesAtStart(
    t,
    ['a,F', 'b,F', 'c,F'],
    [
      { from: 'desk/a', pipe: [{ startWith: 5 }], to: 'desk/b' },
      { from: 'desk/b', map: 'value + 1', to: 'desk/c' },
    ],
  );
  t.is(value('c'), 6);
});

for (const [count, destinations] of [
  [10_100, 13],
  [1010, 130],
] as const)
  test(`${count} rules of ${destinations} destinations all run at the start, though one turn cannot hold their writes`, async (t) => {
    const to = Array.from({ length: destinations }, (_, index) => `desk/x${index}`);
    const rules = Array.from({ length: count }, () => ({ from: 'desk/a', atStart: true, to }));
    const last = { from: 'desk/a', atStart: true, map: '2', to };
    const parameters = desk('a,I,1', ...to.map((address) => `${address.slice(5)},I`));
    const hub = await startTestHub(t, { connections: parameters, rules: [...rules, last] });
    for (const address of to) t.is(hub.find(address)?.value, 2);
  });

test('hub/started fires once everything runs, after the rules with atStart, and not at a reload; it exists if a file names it', async (t) => {
  const log = { from: 'desk/log', to: 'desk/copy' };
  const rules = [
    { name: 'greet', from: 'hub/started', map: "param('desk/log') + ' started'", to: 'desk/log' },
    { from: 'desk/a', atStart: true, map: "'begun'", to: 'desk/log' },
    log,
  ];
  const connections = desk('a,I,1', 'log', 'copy');
  const { hub, reload, value } = await startReloading(t, { 'a.json5': { connections, rules } });
  t.is(value('desk/copy'), 'begun started');
  const { type, access, lastChange } = hub.find('hub/started')!;
  t.deepEqual([type, access, lastChange?.revision], ['T', 'read-only', hub.revision - 2]);
  await reload('a.json5', { connections, rules: [log] });
  t.is(hub.find('hub/started'), undefined);
  await reload('a.json5', { connections, rules: [...rules, { from: 'hub/started', to: 'desk/a' }] });
  t.deepEqual([hub.find('hub/started')?.lastChange, value('desk/log')], [undefined, 'begun']);
});

test('after a restart no lamp is unknown: rules run with the stored values', async (t) => {
  const rules = [
    { from: { a: 'desk/mic1', b: 'desk/mic2' }, atStart: true, map: 'a || b', to: 'core-like/lamp' },
    { from: ['desk/mic1', 'desk/mic2'], atStart: true, to: 'desk/last' },
    { from: 'hub/started', map: "param('desk/starts') + 1", to: 'desk/starts' },
  ];
  const { start } = await install(
    t,
    {
      ...desk('mic1,B,false', 'mic2,B,false', 'last,B', 'starts,I,0'),
      'core-like': { type: 'dummy', parameters: ['lamp,B'] },
    },
    { rules },
  );
  const first = await start();
  first.write('desk/mic2', true, writer);
  first.write('desk/mic1', true, writer);
  first.write('desk/mic2', false, writer);
  await first.stop();
  const second = await start();
  const values = ['core-like/lamp', 'desk/last', 'desk/starts'].map((address) => second.find(address)?.value);
  t.deepEqual(values, [true, false, 2]);
});
