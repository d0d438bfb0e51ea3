// A flow with one test of the given steps, run as `patchbay test` would.

import type { ExecutionContext } from 'ava';
import { Observable } from 'rxjs';
import { z } from 'zod';
import { defineConnectionType } from '../../../lib/connections/connection.ts';
import { type FlowTestResult, runFlowTests } from '../../../lib/testing/run-tests.ts';
import { connectionTypes } from '../connection-types.ts';
import { createFolder } from '../folder.ts';

/** A keyboard as far as tests go: it must not be started. */
const keys = defineConnectionType({
  type: 'keys',
  isExternal: true,
  settingsSchema: z.strictObject({}),
  parameters: () => [
    { id: 'input/f1', type: 'T', access: 'read-only' },
    { id: 'layout', type: 'S', access: 'read-only' },
    { id: 'output/f2', type: 'T', access: 'write-only' },
  ],
  run: () =>
    new Observable(() => {
      throw new Error('started');
    }),
});

/** All connection types, and that keyboard. */
export const types = new Map([...connectionTypes, ['keys', keys]]);

/** A desk, a clock with a timer of 3 s, one of 0 and a pulse each minute, and a keyboard. */
export const connections = {
  desk: {
    type: 'dummy',
    parameters: ['bell,T', 'lamp,B,false', 'level,F', 'percent,F', 'text,S', 'count,I', 'echo,S'],
  },
  clock: { type: 'timer', timers: [3000, 0], pulses: [{ interval: 60_000 }] },
  keys: { type: 'keys', statusParameter: true },
};
/** A bell that lights a lamp for 3 s, and one rule for each further way that a value may take. */
export const rules = [
  { name: 'bell on', from: 'desk/bell', map: 'true', to: 'desk/lamp' },
  { name: 'bell timer', from: 'desk/bell', map: '3000', to: 'clock/timer/1/start' },
  { name: 'bell off', from: 'clock/timer/1/trigger', map: 'false', to: 'desk/lamp' },
  { name: 'percent', from: 'desk/level', map: 'value * 100', to: 'desk/percent' },
  { name: 'echo', from: 'desk/text', to: 'desk/echo' },
  { name: 'hotkey', from: 'keys/input/f1', map: '"pressed"', to: 'desk/text' },
  { name: 'layout', from: 'keys/layout', to: 'desk/text' },
  { name: 'press', from: 'desk/bell', to: 'keys/output/f2' },
];

/** Runs the flow with one test of these steps. */
export async function runSteps(t: ExecutionContext, steps: object[], given: object = {}): Promise<FlowTestResult> {
  const flow = { connections, rules, tests: [{ name: 'it', given, steps }] };
  const folder = await createFolder(t, { 'flow.json5': flow });
  const results = [];
  for await (const result of runFlowTests([folder], { types })) results.push(result);
  t.is(results.length, 1);
  return results[0]!;
}

/** The part of a step that rings the bell. */
export const ring = { set: { 'desk/bell': true } };
