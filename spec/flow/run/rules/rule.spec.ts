// Rules (D-21): sources, names, steps in virtual time, and what they may read.

import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { VirtualTimeScheduler } from 'rxjs';
import type { Hub } from '../../../../lib/hub/index.ts';
import type { Origin } from '../../../../lib/model/parameter.ts';
import { startTestHub } from '../../../support/hub.ts';

const client: Origin = { kind: 'client', name: 'test' };

const parameters = ['a,F', 'b,F', 'c,F', 'out,F', 'text', 'flag,B', 'go,T', 'stop,T'];

/** Runs rules over `desk/a` … in virtual time: writes as `[atMs, id, value]`, results as `500 out=1`. */
async function run(
  t: ExecutionContext,
  rules: object[],
  writes: [atMs: number, id: string, value: unknown][],
  more: string[] = [],
): Promise<string[]> {
  const scheduler = new VirtualTimeScheduler();
  const desk = { type: 'dummy', parameters: [...parameters, ...more] };
  const hub = await startTestHub(t, { connections: { desk }, rules }, { scheduler });
  const results: string[] = [];
  hub.changes$.subscribe(({ parameter, value, origin }) => {
    if (origin.kind === 'rule') results.push(`${scheduler.now()} ${parameter.address.slice(5)}=${value}`);
  });
  for (const [atMs, id, value] of writes) scheduler.schedule(() => hub.write(`desk/${id}`, value, client), atMs);
  scheduler.flush();
  return results;
}

const piped = (...pipe: object[]) => [{ from: 'desk/a', pipe, to: 'desk/out' }];
const each = (...values: number[]): [number, string, number][] =>
  values.map((value, index) => [index * 10, 'a', value]);

const steps: [title: string, pipe: object[], writes: [number, string, unknown][], expected: string[]][] = [
  ['filter', [{ filter: 'value > 1' }], each(1, 2, 0, 3), ['10 out=2', '30 out=3']],
  ['map', [{ map: 'value * 10' }], each(1, 2), ['0 out=10', '10 out=20']],
  ['pairwise', [{ pairwise: 'value - previous' }], each(1, 3, 7), ['10 out=2', '20 out=4']],
  [
    'scan',
    [{ scan: { seed: 100, expression: 'sum + value' } }],
    each(1, 2, 3),
    ['0 out=101', '10 out=103', '20 out=106'],
  ],
  ['debounceTime', [{ debounceTime: 15 }], each(1, 2, 3), ['35 out=3']],
  ['throttleTime', [{ throttleTime: 15 }], each(1, 2, 3, 4), ['0 out=1', '20 out=3']],
  ['auditTime', [{ auditTime: 15 }], each(1, 2, 3), ['15 out=2', '35 out=3']],
  ['sampleTime', [{ sampleTime: '25ms' }, { take: 2 }], each(1, 2, 3, 4), ['25 out=3', '50 out=4']],
  ['delay', [{ delay: '1m30s' }], each(1, 2), ['90000 out=1', '90010 out=2']],
  [
    'distinctUntilChanged',
    [{ map: 'floor(value)' }, { distinctUntilChanged: true }, { map: 'value + 0' }],
    each(1, 1.5, 2),
    ['0 out=1', '20 out=2'],
  ],
  ['skip and take', [{ skip: 1 }, { take: 1 }], each(1, 2, 3), ['10 out=2']],
  ['skipWhile', [{ skipWhile: 'value < 2' }], each(1, 2, 1.5), ['10 out=2', '20 out=1.5']],
  ['takeWhile', [{ takeWhile: 'value < 2' }], each(1, 2, 1.5), ['0 out=1']],
  ['deadband', [{ deadband: 0.5 }], each(1, 1.4, 1.5, 1.1), ['0 out=1', '20 out=1.5']],
  ['scale', [{ scale: { from: [0, 4], to: [0, 100] } }], each(1, 2), ['0 out=25', '10 out=50']],
  ['clamp', [{ clamp: [0, 1] }], each(-1, 0.5, 7), ['0 out=0', '10 out=0.5', '20 out=1']],
  ['lookup', [{ lookup: { table: { '1': 10, '2': 20 } } }], each(1, 3, 2), ['0 out=10', '20 out=20']],
  ['lookup with otherwise', [{ lookup: { table: { '1': 10 }, otherwise: -1 } }], each(1, 3), ['0 out=10', '10 out=-1']],
];

for (const [title, pipe, writes, expected] of steps)
  test(`step ${title}`, async (t) => t.deepEqual(await run(t, piped(...pipe), writes), expected));

test('step startWith emits when the rule starts', async (t) => {
  const desk = { type: 'dummy', parameters };
  const hub = await startTestHub(t, { connections: { desk }, rules: piped({ startWith: 5 }) });
  t.is(hub.find('desk/out')?.value, 5);
});

test('a rule evaluates when, then map, then pipe', async (t) => {
  const rules = [
    { from: 'desk/a', when: 'value > 1', map: 'value * 2', pipe: [{ delay: 5 }, { map: 'value + 1' }], to: 'desk/out' },
  ];
  t.deepEqual(await run(t, rules, each(1, 2)), ['15 out=5']);
});

test('any source of a list starts the rule, with its value', async (t) => {
  const rules = [{ from: ['desk/a', 'desk/b'], to: 'desk/out' }];
  t.deepEqual(await run(t, rules, [[0, 'a', 1], [5, 'b', 2], [6, 'c', 3]]), ['0 out=1', '5 out=2']); // biome-ignore format: a row
});

test('named sources give one consistent set of values per turn, once all are known', async (t) => {
  const rules = [
    { from: 'desk/a', map: 'value * 10', to: 'desk/b' },
    { from: { x: 'desk/a', y: 'desk/b' }, map: 'x + y', to: 'desk/out' },
    { from: { x: 'desk/a', y: 'desk/c' }, map: 'string(x) + string(y)', to: 'desk/text' },
  ];
  t.deepEqual(await run(t, rules, each(1, 2)), ['0 b=10', '0 out=11', '10 b=20', '10 out=22']);
});

test('named sources with require: any start the rule as soon as the known values suffice', async (t) => {
  const rules = [
    {
      from: { x: 'desk/flag', y: 'desk/go', z: 'desk/b' },
      require: 'any',
      map: '(x || y) || z > 1.0',
      to: 'desk/text',
    },
  ];
  const hub = await run(t, rules, [[0, 'go', 1], [5, 'b', 0], [6, 'flag', true]]); // biome-ignore format: a row
  t.deepEqual(hub, ['0 text=true']);
});

test('a named trigger is true in the turn in which it fired', async (t) => {
  const rules = [{ from: { x: 'desk/a', go: 'desk/go' }, map: 'string(x) + (go ? "!" : "")', to: 'desk/text' }];
  t.deepEqual(await run(t, rules, [[0, 'a', 1], [5, 'go', 1], [6, 'a', 2]]), ['0 text=1', '5 text=1!', '6 text=2']); // biome-ignore format: a row
});

test('previous is the previous value, from the start if it is known', async (t) => {
  const rules = [
    { from: 'desk/d', map: 'value - previous', to: 'desk/out' },
    { from: 'desk/a', map: 'value - previous', to: 'desk/b' },
  ];
  const writes: [number, string, unknown][] = [[0, 'd', 5], [1, 'a', 1], [2, 'a', 4]]; // biome-ignore format: a row
  t.deepEqual(await run(t, rules, writes, ['d,F,3']), ['0 out=2', '2 b=3']);
});

test('param reads another parameter without listening to it, and waits until it is known', async (t) => {
  const rules = [{ from: 'desk/a', map: "value + param('desk/b')", to: 'desk/out' }];
  t.deepEqual(await run(t, rules, [[0, 'a', 1], [1, 'b', 10], [2, 'a', 2]]), ['2 out=12']); // biome-ignore format: a row
});

test('param within text is text', async (t) => {
  const rules = [{ from: 'desk/a', map: `"param('desk/b')"`, to: 'desk/text' }];
  t.deepEqual(await run(t, rules, [[0, 'a', 1]]), ["0 text=param('desk/b')"]);
});

test('now is the time of day in milliseconds', async (t) => {
  const before = Date.now();
  const [result] = await run(t, [{ from: 'desk/a', map: 'now', to: 'desk/out' }], [[0, 'a', 1]]);
  const now = Number(result?.split('=')[1]);
  t.true(now >= before - 1000 && now <= Date.now() + 1000);
});

/** A random acyclic network of sums over named sources; every value is a multiple of its weight in every turn. */
test('no rule ever sees half of a turn, whatever the network', async (t) => {
  const network = fc.array(fc.array(fc.nat(), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(network, fc.infiniteStream(fc.nat()), async (nodes, order) => {
      const weights = [1];
      const rules = nodes.map((picks, index) => {
        const sources = [...new Set(picks.map((pick) => pick % (index + 1)))];
        weights.push(sources.reduce((sum, source) => sum + weights[source]!, 0));
        const names = Object.fromEntries(sources.map((source) => [`n${source}`, `desk/p${source}`]));
        const rule = { from: names, map: Object.keys(names).join(' + '), to: `desk/p${index + 1}` };
        return sources.length > 1 ? rule : { ...rule, from: `desk/p${sources[0]}`, map: 'value' };
      });
      const shuffled = rules.map((rule) => ({ rule, key: order.next().value })).sort((a, b) => a.key - b.key);
      const desk = { type: 'dummy', parameters: weights.map((_, index) => `p${index},F`) };
      const hub = await startTestHub(t, { connections: { desk }, rules: shuffled.map(({ rule }) => rule) });
      const wrong = checkMultiples(hub, weights);
      for (const value of [1, 2, 5]) hub.write('desk/p0', value, client);
      t.deepEqual(wrong, []);
      for (const [index, weight] of weights.entries()) t.is(hub.find(`desk/p${index}`)?.value, 5 * weight);
      await hub.stop();
    }),
    { numRuns: 60 },
  );
});

function checkMultiples(hub: Hub, weights: readonly number[]): string[] {
  const wrong: string[] = [];
  hub.changes$.subscribe(({ parameter, value }) => {
    const weight = weights[Number(parameter.address.slice('desk/p'.length))]!;
    if (value !== Number(hub.find('desk/p0')!.value) * weight) wrong.push(`${parameter.address}=${value}`);
  });
  return wrong;
}

const refused: [title: string, rule: object, message: RegExp][] = [
  ['an unknown step', { pipe: [{ debounce: 5 }] }, /rules\[0\]\.pipe\[0\]\.debounce: unknown step "debounce"/],
  [
    'two steps in one object',
    { pipe: [{ skip: 1, take: 1 }] },
    /rules\[0\]\.pipe\[0\]: expected one step in each \{ \}: \{ skip: 1 \}, \{ take: 1 \}/,
  ],
  [
    'a bad duration',
    { pipe: [{ delay: 'soon' }] },
    /rules\[0\]\.pipe\[0\]\.delay: expected milliseconds or a duration such as '1m30s', got "soon"/,
  ],
  ['a bad setting', { pipe: [{ clamp: [1] }] }, /rules\[0\]\.pipe\[0\]\.clamp: expected a pair of numbers/],
  [
    'a wrong type after a step',
    { pipe: [{ map: 'value > 1' }, { map: 'value + 1' }] },
    /rules\[0\]\.pipe\[1\]\.map: true\/false \+ number/,
  ],
  ['an unknown parameter in param', { map: "param('desk/nope')" }, /unknown parameter "desk\/nope"/],
  ['a wrong type of param', { map: "value + param('desk/text')" }, /rules\[0\]\.map: number \+ text/],
  [
    'names without map',
    { from: { x: 'desk/a' } },
    /rules\[0\]\.map: expected an expression that uses the names in `from`, got nothing/,
  ],
  [
    'an invalid name',
    { from: { 'x-1': 'desk/a' }, map: '1' },
    /rules\[0\]\.from\.x-1: expected a name for expressions/,
  ],
  ['an unknown name in map', { from: { x: 'desk/a' }, map: 'y' }, /unknown name "y", the names are x/],
  ['require without names', { require: 'any' }, /rules\[0\]\.require: allowed only with named sources/],
];

for (const [title, rule, message] of refused)
  test(`refuses ${title}`, async (t) => {
    const flow = {
      connections: { desk: { type: 'dummy', parameters } },
      rules: [{ from: 'desk/a', to: 'desk/out', ...rule }],
    };
    const error = await t.throwsAsync(startTestHub(t, flow));
    t.regex(error!.message, message);
    t.is(error!.message.split('\n').length, 1, error!.message);
  });
