// How long a rule is shown to be in trouble, with a clock that the spec moves.

import test from 'ava';
import { RuleStates } from '../../../../lib/flow/run/rules/rule-states.ts';
import { startReloading } from '../../../support/reload.ts';

const rule = { name: 'there', file: 'a.json5' };

test('a rule that loops is limited until a write has got through, and for five seconds after the last drop at least', (t) => {
  let now = 0;
  let isStuck = true;
  const states = new RuleStates(() => now);
  const state = () => states.stateOf(rule).state;
  t.is(state(), 'running');
  for (; now < 60_000; now += 7000) {
    states.limited(rule, 'it loops', () => isStuck);
    now += 6999;
    t.is(state(), 'limited', `between two drops, at ${now} ms`);
  }
  isStuck = false;
  t.is(state(), 'running');
  states.limited(rule, 'it loops', () => isStuck);
  now += 4999;
  t.like(states.stateOf(rule), { state: 'limited', reason: 'it loops', dropped: 6 });
  now += 1;
  t.like(states.stateOf(rule), { state: 'running', reason: '', dropped: 6 });
});

test('a failure is shown before a limit, for five seconds; the limit is not forgotten over it', (t) => {
  let now = 0;
  const states = new RuleStates(() => now);
  states.limited(rule, 'it loops', () => true);
  states.failed(rule, 'expected a number');
  t.like(states.stateOf(rule), { state: 'failing', reason: 'expected a number', faults: 1 });
  now = 5000;
  t.like(states.stateOf(rule), { state: 'limited', reason: 'it loops', dropped: 1 });
  states.started(rule);
  t.like(states.stateOf(rule), { state: 'running', faults: 1, dropped: 1 });
});

test('a loop of a running hub: limited again and again, until it is broken or switched on anew', async (t) => {
  const desk = { type: 'dummy', parameters: ['a,I', 'b,I', 'on,B,true'] };
  const rules = [
    { name: 'there', from: 'desk/a', when: 'param("desk/on")', map: 'value + 1', to: 'desk/b' },
    { name: 'back', from: 'desk/b', map: 'value + 1', to: 'desk/a' },
  ];
  const { hub, write } = await startReloading(t, { 'a.json5': { connections: { desk }, rules } });
  const states = () => hub.rules().map(({ state }) => state);
  for (let round = 0; round < 5; round++) {
    write('desk/a', round * 1000);
    t.deepEqual(states(), ['limited', 'limited']);
  }
  hub.switchRule('back', undefined, false, { kind: 'client', name: 'ann' });
  hub.switchRule('back', undefined, true, { kind: 'client', name: 'ann' });
  t.deepEqual(states(), ['limited', 'running']);
});
