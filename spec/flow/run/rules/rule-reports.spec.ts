// How long a rule is shown as failing or limited, with a clock that the spec controls.

import test from 'ava';
import { RuleReports } from '../../../../lib/flow/run/rules/rule-reports.ts';
import { createLogRecorder } from '../../../support/connection.ts';
import { startReloading } from '../../../support/reload.ts';

const reportsAt = (now: () => number) => new RuleReports({ log: createLogRecorder(), now, ownHub: () => undefined });

const rule = { name: 'there', file: 'a.json5' };

test('a rule that loops is limited until a write has got through, and for at least five seconds after the last drop', (t) => {
  let now = 0;
  let isStuck = true;
  const reports = reportsAt(() => now);
  const state = () => reports.stateOf(rule).state;
  t.is(state(), 'running');
  for (; now < 60_000; now += 7000) {
    reports.showLimited(rule, 'it loops', () => isStuck);
    now += 6999;
    t.is(state(), 'limited', `between two drops, at ${now} ms`);
  }
  isStuck = false;
  t.is(state(), 'running');
  reports.showLimited(rule, 'it loops', () => isStuck);
  now += 4999;
  t.like(reports.stateOf(rule), { state: 'limited', reason: 'it loops', dropped: 6 });
  now += 1;
  t.like(reports.stateOf(rule), { state: 'running', reason: '', dropped: 6 });
});

test('a failure is shown in place of a limit for five seconds; the limit is shown again afterwards', (t) => {
  let now = 0;
  const reports = reportsAt(() => now);
  reports.showLimited(rule, 'it loops', () => true);
  reports.showFailed(rule, 'expected a number');
  t.like(reports.stateOf(rule), { state: 'failing', reason: 'expected a number', faults: 1 });
  now = 5000;
  t.like(reports.stateOf(rule), { state: 'limited', reason: 'it loops', dropped: 1 });
  reports.started(rule);
  t.like(reports.stateOf(rule), { state: 'running', faults: 1, dropped: 1 });
});

test('a looping rule of a running hub stays limited until the loop is broken or the rule is switched on again', async (t) => {
  const desk = { type: 'dummy', parameters: ['a,I', 'b,I', 'on,B,true'] };
  const rules = [
    { name: 'there', from: 'desk/a', when: 'param("desk/on")', map: 'value + 1', to: 'desk/b' },
    { name: 'back', from: 'desk/b', map: 'value + 1', to: 'desk/a' },
  ];
  const { hub, write } = await startReloading(t, { 'a.json5': { connections: { desk }, rules } });
  const reports = () => hub.rules().map(({ state }) => state);
  for (let round = 0; round < 5; round++) {
    write('desk/a', round * 1000);
    t.deepEqual(reports(), ['limited', 'limited']);
  }
  hub.switchRule('back', undefined, false, { kind: 'client', name: 'ann' });
  hub.switchRule('back', undefined, true, { kind: 'client', name: 'ann' });
  t.deepEqual(reports(), ['limited', 'running']);
});
