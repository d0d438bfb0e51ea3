// The timing diagrams of CTU, CTD and CTUD (IEC 61131-3), and the ends of their range.

import test from 'ava';
import { drawDiagram, startCore } from '../../../support/core.ts';

const diagram = test.macro((t, desk: string[], q: object, rows: Record<string, string>) =>
  drawDiagram(t, desk, { q }, rows),
);

const upDown = ['up,B', 'down,B', 'reset,B,false', 'load,B,false'];

test(
  'CTU: counts edges, is done from pv on, reset holds it at 0',
  diagram,
  ['up,B', 'reset,B'],
  { block: 'CTU', up: 'up', reset: 'reset', pv: 2 },
  {
    up: '_#_#_##_#_#_#_',
    reset: '_________###__',
    q: '___######_____',
    'q/count': '01122333400011',
  },
);

test(
  'CTU: the first value is not an edge',
  diagram,
  ['up,B'],
  { block: 'CTU', up: 'up', pv: 1 },
  {
    up: '??##_#_',
    q: '??___##',
    'q/count': '??00011',
  },
);

test(
  'CTU: pv from a parameter, moved while it counts',
  diagram,
  ['up,B', 'goal,I'],
  { block: 'CTU', up: 'up', pv: 'goal' },
  {
    up: '_#_#_#_',
    goal: '?333111',
    q: '?___###',
    'q/count': '?001122',
  },
);

test(
  'CTD: counts down from the loaded value, done at 0 and below',
  diagram,
  ['down,B', 'load,B'],
  { block: 'CTD', down: 'down', load: 'load', pv: 2 },
  {
    down: '__#_#___#_#',
    load: '_#_____##__',
    q: '#___###____',
    'q/count': '02110002221',
  },
);

test(
  'CTUD: counts both ways, an edge up with one down cancels out, reset before load before counting',
  diagram,
  upDown,
  {
    block: 'CTUD',
    up: 'up',
    down: 'down',
    reset: 'reset',
    load: 'load',
    pv: 2,
  },
  {
    up: '_#___#_#____',
    down: '_____#__#___',
    reset: '_________##_',
    load: '_______#__##',
    q: '_______#___#',
    'q/count': '011111121002',
    'q/down-done': '#________##_',
  },
);

for (const [name, end, direction] of [
  ['upper', Number.MAX_SAFE_INTEGER, 'up'],
  ['lower', Number.MIN_SAFE_INTEGER, 'down'],
] as const)
  test(`CTUD: stays at the ${name} end of its range, and comes back`, async (t) => {
    const core = await startCore(t, ['up,T', 'down,T', 'load,T', `pv,I,${end}`], {
      q: { block: 'CTUD', up: 'up', down: 'down', load: 'load', pv: 'pv' },
    });
    core.turn({ load: true });
    t.is(core.value('core/q/count'), end);
    for (let count = 0; count < 3; count++) core.turn({ [direction]: true });
    t.is(core.value('core/q/count'), end);
    core.turn({ [direction === 'up' ? 'down' : 'up']: true });
    t.is(core.value('core/q/count'), end - Math.sign(end));
  });

test('CTD: goes below 0 to the lower end', async (t) => {
  const core = await startCore(t, ['down,T'], { q: { block: 'CTD', down: 'down', pv: 1 } });
  for (let count = 0; count < 3; count++) core.turn({ down: true });
  t.is(core.value('core/q/count'), -3);
  t.true(core.value('core/q'));
});

test('a trigger that fires three times in a turn counts three times', async (t) => {
  const core = await startCore(t, ['up,T'], { q: { block: 'CTU', up: 'up', pv: 3 } });
  core.changes.length = 0;
  core.graph.turn(() => {
    for (let count = 0; count < 3; count++) core.turn({ up: true });
  });
  t.deepEqual(
    core.changes.filter((change) => change.startsWith('core')),
    ['core/q/count=1', 'core/q/count=2', 'core/q=true', 'core/q/count=3'],
  );
});

test('a restart counts from 0', async (t) => {
  const core = await startCore(t, ['up,T'], { q: { block: 'CTU', up: 'up', pv: 1 } });
  core.turn({ up: true });
  t.true(core.value('core/q'));
  await core.restart();
  t.is(core.value('core/q/count'), 0);
  t.false(core.value('core/q'));
});
