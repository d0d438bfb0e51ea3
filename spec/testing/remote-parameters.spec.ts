// Tests of flows that name parameters of other hubs.

import { join } from 'node:path';
import test from 'ava';
import { testFlow } from '../../lib/index.ts';
import { type FlowTestResult, runFlowTests } from '../../lib/testing/run-tests.ts';
import { createFolder } from '../support/folder.ts';

const remotes = {
  'desk/mic': { type: 'B', access: 'read-only', hub: 'west' },
  'desk/lamp': { type: 'B', access: 'read-write', hub: 'west' },
};

/** A flow on another hub's desk, and a file that tells what is there. */
function flow(house: object) {
  return {
    connections: {
      house: { type: 'nats', domain: 'd', hub: 'east', ...house },
      rack: { type: 'dummy', parameters: ['light,B'] },
    },
    rules: [
      { from: 'desk/mic', to: 'rack/light' },
      { from: 'rack/light', pipe: [{ delay: '10s' }], to: 'desk/lamp' },
    ],
    tests: [
      {
        name: 'the lamp follows later',
        given: { 'desk/lamp': false },
        steps: [
          { set: { 'desk/mic': true }, expect: { 'rack/light': true, 'desk/lamp': false } },
          { at: '10s', expect: { 'desk/lamp': true } },
        ],
      },
    ],
  };
}

async function resultsOf(folder: string): Promise<FlowTestResult[]> {
  const results: FlowTestResult[] = [];
  for await (const result of runFlowTests([folder])) results.push(result);
  return results;
}

test('a file declares the parameters of other hubs: tests set and expect them', async (t) => {
  const known = flow({ mirrors: './house.types.json' });
  const folder = await createFolder(t, { 'flow.json5': known, 'house.types.json': remotes });
  const results = await resultsOf(folder);
  t.deepEqual(
    results.map(({ isPassed, timeline }) => [isPassed, timeline]),
    [[true, '']],
  );
  const run = await testFlow([join(folder, 'flow.json5')]);
  t.teardown(() => run.stop());
  run.set({ 'desk/mic': true });
  run.expect({ 'rack/light': true, 'desk/lamp': undefined });
});

test('without the declaration a test fails, and names it', async (t) => {
  const folder = await createFolder(t, { 'flow.json5': flow({}) });
  const [result] = await resultsOf(folder);
  t.is(result!.name, 'the lamp follows later');
  t.regex(
    result!.timeline,
    /^desk\/lamp and 1 more are assumed to belong to another hub, .+ "mirrors" \(patchbay types --remote\)$/,
  );
});
