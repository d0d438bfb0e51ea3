// The timing diagrams of TON, TOF and TP (IEC 61131-3), a column being 100 ms of virtual time.

import test from 'ava';
import { drawDiagram, startCore } from '../../../support/core.ts';

const timer = (block: string, pt: number | string = 300) => ({ q: { block, in: 'in', pt } });

const diagram = test.macro((t, block: string, rows: Record<string, string>) =>
  drawDiagram(t, 'pt' in rows ? ['in,B', 'pt,I'] : ['in,B'], timer(block, 'pt' in rows ? 'pt' : 300), rows),
);

test('TON: on after pt, off with its input, and a short input has no effect', diagram, 'TON', {
  in: '_#####__##__',
  q: '____##______',
  'q/elapsed': '001233000100',
});

test('TON: an input that is on from the beginning starts the time', diagram, 'TON', {
  in: '??####_',
  q: '??___#_',
  'q/elapsed': '??01230',
});

test('TON: an input that returns restarts the time', diagram, 'TON', {
  in: '_##_####_',
  q: '_______#_',
  'q/elapsed': '001001230',
});

test('TON: a new pt counts immediately and from the same start; an output that is on stays on', diagram, 'TON', {
  in: '_##########_',
  pt: '666622288882',
  q: '____#######_',
  'q/elapsed': '001222222220',
});

test('TON: a longer pt extends the running time', diagram, 'TON', {
  in: '_#######_',
  pt: '335555555',
  q: '______##_',
  'q/elapsed': '001234550',
});

test('TON: pt 0 is on with its input', diagram, 'TON', {
  in: '_##_#_',
  pt: '000000',
  q: '_##_#_',
  'q/elapsed': '000000',
});

test('TON: nothing before in and pt are known', diagram, 'TON', {
  in: '?####',
  pt: '???22',
  q: '???__',
  'q/elapsed': '???01',
});

test('TOF: on with its input, off pt after it', diagram, 'TOF', {
  in: '_##______#_____',
  q: '_#####___####__',
  'q/elapsed': '000012333001233',
});

test('TOF: an input that returns in time keeps it on and restarts the time', diagram, 'TOF', {
  in: '_#__#_____',
  q: '_#######__',
  'q/elapsed': '0001001233',
});

test('TOF: an input that is off from the beginning is off immediately, without a delay', diagram, 'TOF', {
  in: '?___',
  q: '?___',
  'q/elapsed': '?000',
});

test('TOF: a new pt counts immediately and from the same start', diagram, 'TOF', {
  in: '#________',
  pt: '555522222',
  q: '####_____',
  'q/elapsed': '001222222',
});

test('TOF: pt 0 is off with its input', diagram, 'TOF', {
  in: '_#_',
  pt: '000',
  q: '_#_',
  'q/elapsed': '000',
});

test('TP: a pulse of pt, for any input meanwhile', diagram, 'TP', {
  in: '_#____#######__#_#_#__',
  q: '_###__###______###_###',
  'q/elapsed': '0012000123333000120012',
});

test('TP: an edge at the end of a pulse starts the next one', diagram, 'TP', {
  in: '_#__#____',
  q: '_######__',
  'q/elapsed': '001201200',
});

test('TP: an input that is on from the beginning is not an edge', diagram, 'TP', {
  in: '?##_#____',
  q: '?___###__',
  'q/elapsed': '?00001200',
});

test('TP: a new pt counts immediately and from the same start', diagram, 'TP', {
  in: '_#______',
  pt: '55552222',
  q: '_###____',
  'q/elapsed': '00120000',
});

test('TP: pt 0 is no pulse', diagram, 'TP', { in: '_##_', pt: '0000', q: '____', 'q/elapsed': '0000' });

test('exact to the millisecond, elapsed on its grid and at the end', async (t) => {
  const core = await startCore(t, ['in,B,false'], timer('TON', 250));
  const reported: [number, string][] = [];
  core.graph.changes$.subscribe(
    ({ parameter, value }) => void reported.push([core.scheduler.now(), `${parameter.address}=${value}`]),
  );
  core.pass(37);
  core.turn({ in: true });
  core.pass(1000);
  t.deepEqual(reported, [
    [37, 'desk/in=true'],
    [137, 'core/q/elapsed=100'],
    [237, 'core/q/elapsed=200'],
    [287, 'core/q=true'],
    [287, 'core/q/elapsed=250'],
  ]);
});

test('a negative or endless pt from a parameter counts as the nearest bound', async (t) => {
  const core = await startCore(t, ['in,B,false', 'pt,F,-5'], timer('TON', 'pt'));
  core.turn({ in: true });
  t.true(core.value('core/q'));
  t.is(core.value('core/q/elapsed'), 0);
  core.turn({ in: false, pt: 1e300 });
  core.turn({ in: true });
  core.pass(1000);
  t.false(core.value('core/q'));
  t.is(core.value('core/q/elapsed'), 1000);
});

test('an input that toggles within a turn is not an edge', async (t) => {
  const core = await startCore(t, ['in,B,false'], { ...timer('TP'), edge: { block: 'R_TRIG', in: 'in' } });
  core.changes.length = 0;
  core.graph.turn(() => {
    for (const value of [true, false]) core.graph.write('desk/in', value, { kind: 'client', name: 'spec' });
  });
  core.pass(1000);
  t.deepEqual(
    core.changes.filter((change) => change.startsWith('core/')),
    [],
  );
});

test('timers that end at the same moment end in one turn', async (t) => {
  const core = await startCore(t, ['in,B,false'], {
    one: { block: 'TON', in: 'in', pt: 200 },
    two: { block: 'TON', in: 'in', pt: 200 },
    differ: { type: 'B', expression: 'one != two' },
  });
  core.turn({ in: true });
  core.changes.length = 0;
  core.pass(1000);
  t.true(core.value('core/two'));
  t.deepEqual(
    core.changes.filter((change) => change.startsWith('core/differ')),
    [],
  );
});

test('a restart clears running timers: none of them fires', async (t) => {
  const core = await startCore(t, ['in,B,true'], timer('TOF'));
  core.turn({ in: false });
  core.pass(100);
  t.true(core.value('core/q'));
  await core.restart();
  t.false(core.value('core/q'));
  t.is(core.scheduler.actions.length, 0);
});

test('a stop after a change and before its evaluation leaves nothing running', async (t) => {
  const core = await startCore(t, ['in,B,true'], timer('TOF'));
  let restarted = Promise.resolve();
  core.graph.find('desk/in')!.subscribe((value) => {
    if (value === false) restarted = core.restart();
  });
  core.turn({ in: false });
  await restarted;
  t.is(core.scheduler.actions.length, 0);
});
