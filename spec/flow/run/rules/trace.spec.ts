// The last runs of rules: their input, their outcome and their destinations; limited in number, and found by name.

import test, { type ExecutionContext } from 'ava';
import { VirtualTimeScheduler } from 'rxjs';
import { keptLength, keptRuns } from '../../../../lib/flow/run/rules/kept-runs.ts';
import { createTraces } from '../../../../lib/flow/run/rules/trace.ts';
import { Graph } from '../../../../lib/graph/graph.ts';
import type { Origin } from '../../../../lib/model/parameter.ts';
import { startTestHub } from '../../../support/hub.ts';

const client: Origin = { kind: 'client', name: 'test' };

const startDesk = (t: ExecutionContext, ...rules: object[]) =>
  startTestHub(t, {
    connections: { desk: { type: 'dummy', parameters: ['a,F', 'b,F', 'n,I', 'text', 'copy', 'known,F,7', 'lamp,B'] } },
    rules,
  });

test('each run of a rule with a condition and an expression has its input and its outcome', async (t) => {
  const hub = await startDesk(t, { name: 'double', from: 'desk/a', when: 'value > 1', map: 'value * 2', to: 'desk/b' });
  t.deepEqual(hub.runsOf('double')[0]!.runs, []);
  hub.write('desk/a', 0.5, client);
  hub.write('desk/a', 3, client);
  const [{ rule, file, runs, isAlwaysRecorded }] = hub.runsOf('double') as [ReturnType<typeof hub.runsOf>[number]];
  t.is(rule, 'double');
  t.true(isAlwaysRecorded);
  t.regex(file, /flow\.json5$/);
  t.like(runs[0], { source: 'desk/a', value: 3, outcome: 'wrote', result: 6, to: ['desk/b'], error: undefined });
  t.like(runs[1], { source: 'desk/a', value: 0.5, outcome: 'stopped', result: undefined, to: [] });
  t.is(runs[0]!.revision, hub.find('desk/a')!.lastChange!.revision);
  t.is(runs[0]!.time, hub.find('desk/a')!.lastChange!.time);
});

test('durations are measured after somebody has asked for the trace', async (t) => {
  const hub = await startDesk(t, { name: 'double', from: 'desk/a', map: 'value * 2', to: 'desk/b' });
  hub.write('desk/a', 1, client);
  t.is(hub.runsOf('double')[0]!.runs[0]!.durationUs, undefined);
  hub.write('desk/a', 2, client);
  const { durationUs } = hub.runsOf('double')[0]!.runs[0]!;
  t.true(durationUs !== undefined && durationUs >= 0 && durationUs < 1e6, `${durationUs}`);
});

test('a failed run and a destination that refuses a value are shown', async (t) => {
  const hub = await startDesk(
    t,
    { name: 'to number', from: 'desk/text', to: ['desk/n', 'desk/copy'] },
    {
      name: 'divide',
      from: 'desk/n',
      map: "1 / (value == 0 ? 0 : value) > 0 ? 'a'.substring(9) : ''",
      to: 'desk/copy',
    },
  );
  hub.write('desk/text', 'abc', client);
  t.like(hub.runsOf('to number')[0]!.runs, [
    { value: 'abc', outcome: 'wrote', to: ['desk/copy'], error: 'expected a number, got "abc" (string)' },
  ]);
  hub.write('desk/n', 1, client);
  const [run] = hub.runsOf('divide')[0]!.runs;
  t.like(run, { source: 'desk/n', value: 1, outcome: 'failed', to: [] });
  t.truthy(run!.error);
});

test('a rule that only copies shows its last run immediately, and all runs after somebody has asked', async (t) => {
  const hub = await startDesk(
    t,
    { name: 'copy', from: 'desk/a', to: 'desk/b' },
    { name: 'known', from: 'desk/known', to: 'desk/n' },
  );
  for (const value of [1, 2, 3]) hub.write('desk/a', value, client);
  t.like(hub.runsOf('copy'), [{ isAlwaysRecorded: false, runs: [{ value: 3, result: 3, to: ['desk/b'] }] }]);
  t.is(hub.runsOf('copy')[0]!.runs.length, 1);
  for (const value of [4, 5]) hub.write('desk/a', value, client);
  t.deepEqual(
    hub.runsOf('copy')[0]!.runs.map(({ value }) => value),
    [5, 4, 3],
  );
  t.deepEqual(hub.runsOf('known')[0]!.runs, [], 'a default value starts no rule');
});

test('the last fifty runs are kept, with the beginnings of long texts', async (t) => {
  const hub = await startDesk(t, { name: 'shout', from: 'desk/text', map: "value + '!'", to: 'desk/copy' });
  for (let index = 0; index < 120; index++) hub.write('desk/text', `${index} ${'x'.repeat(1000)}`, client);
  const { runs } = hub.runsOf('shout')[0]!;
  t.is(runs.length, keptRuns);
  t.deepEqual(
    runs.map(({ value }) => Number.parseInt(value as string, 10)),
    Array.from({ length: keptRuns }, (_, index) => 119 - index),
  );
  t.is((runs[0]!.value as string).length, keptLength + 1);
  t.is((runs[0]!.result as string).length, keptLength + 1);
});

test('values of every type and of several sources are kept around the ring, and errors only with their runs', async (t) => {
  const rule = { name: 'any', from: ['desk/a', 'desk/text', 'desk/lamp'], map: 'value', to: 'desk/n' };
  const hub = await startDesk(t, rule);
  const writes = [1.5, 'abc', true, false, 'x', 3].map((value) => {
    const id = { number: 'a', string: 'text', boolean: 'lamp' }[typeof value as 'number'];
    return { source: `desk/${id}`, value };
  });
  const isText = (value: unknown) => typeof value === 'string';
  for (let round = 0; round < 10; round++) for (const { source, value } of writes) hub.write(source, value, client);
  const { runs } = hub.runsOf('any')[0]!;
  const expected = Array.from({ length: 10 }, () => writes).flat();
  t.deepEqual(
    runs.map(({ source, value }) => ({ source, value })),
    expected.slice(-keptRuns).reverse(),
  );
  for (const { value, result, error, to } of runs) {
    t.is(result, value);
    t.is(error, isText(value) ? `expected a number, got "${value}" (string)` : undefined);
    t.deepEqual(to, isText(value) ? [] : ['desk/n']);
  }
});

test('rules with one name are listed one by one, and an unknown name gets the nearest one', async (t) => {
  const hub = await startDesk(
    t,
    { name: 'lamp off', from: 'desk/a', to: 'desk/b' },
    { name: 'lamp off', from: 'desk/n', to: 'desk/b' },
    { from: 'desk/text', to: 'desk/copy' },
  );
  t.is(hub.runsOf('lamp off').length, 2);
  t.is(hub.runsOf('desk/text → desk/copy').length, 1);
  t.like(
    t.throws(() => hub.runsOf('lamp of')),
    { code: 'not-found', message: 'unknown rule "lamp of", did you mean "lamp off"?' },
  );
});

test('a result outside a run is a separate run, a run without a result is held, and a closed trace is gone', (t) => {
  const graph = new Graph(() => 1000);
  graph.declare({ kind: 'connection', name: 'desk' }, [{ id: 'a', type: 'I', access: 'read-write' }]);
  const traces = createTraces(graph);
  const trace = traces.open({ name: 'later', file: 'a.json5', to: ['desk/b'] }, undefined);
  graph.find('desk/a')!.subscribe((value) => {
    if (value === undefined) return;
    trace.begin();
    trace.end();
  });
  graph.write('desk/a', 5, client);
  graph.onBehalfOf(graph.find('desk/a')!.lastChange, () => trace.result(6));
  t.like(traces.runsOf('later')[0]!.runs, [
    { source: 'desk/a', value: 5, outcome: 'wrote', result: 6, to: ['desk/b'] },
    { source: 'desk/a', value: 5, outcome: 'held' },
  ]);
  trace.unsubscribe();
  t.throws(() => traces.runsOf('later'), { message: /^unknown rule "later"/ });
});

test('a delayed value has the change that it came from as its cause, a debounced value the latest change', async (t) => {
  const scheduler = new VirtualTimeScheduler(undefined, 0);
  const flow = {
    connections: { desk: { type: 'dummy', parameters: ['a,F', 'b,F', 'c,F'] } },
    rules: [
      { name: 'late', from: 'desk/a', pipe: [{ delay: 1000 }], to: 'desk/b' },
      { name: 'calm', from: 'desk/a', pipe: [{ debounceTime: 100 }], to: 'desk/c' },
    ],
  };
  const hub = await startTestHub(t, flow, { scheduler });
  const last = (id: string) => hub.find(`desk/${id}`)!.lastChange!;
  hub.write('desk/a', 1, client);
  const first = last('a');
  hub.write('desk/a', 2, client);
  const second = last('a');
  scheduler.maxFrames = 500;
  scheduler.flush();
  t.is(last('c').cause, second);
  scheduler.schedule(() => hub.write('desk/a', 3, client), 0);
  const causes: unknown[] = [];
  hub.changes$.subscribe(({ parameter, cause }) => parameter.address === 'desk/b' && causes.push(cause));
  scheduler.maxFrames = 1000;
  scheduler.flush();
  t.deepEqual(causes, [first, second]);
  t.like(hub.runsOf('late')[0]!.runs, [
    { value: 2, outcome: 'wrote', result: 2 },
    { value: 1, outcome: 'wrote', result: 1 },
    { value: 3, outcome: 'held' },
  ]);
});
