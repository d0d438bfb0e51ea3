// Two tasks of a newcomer, starting from a file without a rule, with the number of key presses and clicks they take.

import { isDeepStrictEqual } from 'node:util';
import JSON5 from 'json5';
import type { Rule } from '../../../lib/console/editor/rule-fields.ts';
import { notify } from '../trial.ts';
import { expectSound } from './check.ts';
import type { Desk } from './recipes.ts';
import { enterRule, openNewRule, takeOver } from './sheet.ts';

const file = 'studio.json5';

export function tallyThatStaysOn(desk: Desk): Promise<string> {
  return perform(
    desk,
    ['mic1,B,false', 'mic2,B,false', 'lamp,B,false'],
    [
      {
        name: 'tally',
        from: { mic1: 'desk/mic1', mic2: 'desk/mic2' },
        map: 'mic1 || mic2',
        pipe: [{ offDelay: '2s' }],
        to: 'desk/lamp',
      },
    ],
    [
      { at: 0, set: { 'desk/mic1': true }, expect: { 'desk/lamp': true } },
      { at: 0, set: { 'desk/mic2': true, 'desk/mic1': false } },
      { at: '5s', set: { 'desk/mic2': false }, during: '2s', never: { 'desk/lamp': false } },
      { at: '7s', expect: { 'desk/lamp': false } },
    ],
  );
}

export function alarmAfterSilence(desk: Desk): Promise<string> {
  return perform(
    desk,
    ['level,F,-12', 'acknowledge,T', 'alarm,B,false'],
    [
      {
        name: 'alarm',
        from: 'desk/level',
        map: 'value < -50',
        pipe: [{ onDelay: '10s' }, { filter: 'value' }],
        to: 'desk/alarm',
      },
      { name: 'acknowledge', from: 'desk/acknowledge', map: 'false', to: 'desk/alarm' },
    ],
    [
      { at: 0, set: { 'desk/level': -70 }, during: '10s', never: { 'desk/alarm': true } },
      { at: '10s', expect: { 'desk/alarm': true } },
      { at: '20s', set: { 'desk/level': -12 }, expect: { 'desk/alarm': true } },
      { at: '30s', set: { 'desk/acknowledge': true }, expect: { 'desk/alarm': false } },
    ],
  );
}

/** Errors: the rules of the file are others, or do not what they should. */
async function perform(
  { hand, folder, put, read }: Desk,
  parameters: readonly string[],
  rules: readonly Rule[],
  steps: readonly object[],
): Promise<string> {
  const before = { connections: { desk: { type: 'dummy', parameters } } };
  await put(file, JSON5.stringify({ ...before, tests: [{ name: 'the task', steps }] }, undefined, 2));
  let [clicks, keys] = [0, 0];
  const startMs = performance.now();
  for (const rule of rules) {
    await openNewRule(hand, file, rule === rules[0]);
    await enterRule(hand, rule);
    await takeOver(hand);
    const counted = hand.count();
    notify(`  “${rule.name}”: ${counted.clicks} clicks, ${counted.keys} keys`);
    if (counted.hesitations.length > 0) throw new Error(counted.hesitations.join('\n'));
    clicks += counted.clicks;
    keys += counted.keys;
  }
  const tookS = (performance.now() - startMs) / 1000;
  const made = JSON5.parse<{ rules: Rule[] }>(await read(file)).rules;
  if (!isDeepStrictEqual(made, rules)) throw new Error(`expected other rules, got ${JSON.stringify(made)}`);
  await expectSound([folder]);
  return `${clicks} clicks, ${keys} keys, ${tookS.toFixed(1)} s`;
}
