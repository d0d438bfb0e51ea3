// The settings of tsl-umd: what they mean in tests of flow files, and what is wrong with them and where.

import { Ajv2020 } from 'ajv/dist/2020.js';
import test, { type ExecutionContext } from 'ava';
import { flowFileJsonSchema } from '../../../lib/flow/check/schema.ts';
import { loadFlows } from '../../../lib/hub/index.ts';
import { runFlowTests } from '../../../lib/testing/run-tests.ts';
import { connectionTypes } from '../../support/connection-types.ts';
import { createFolder } from '../../support/folder.ts';

async function run(t: ExecutionContext, settings: object, steps: object[]): Promise<void> {
  const flow = {
    connections: {
      it: { type: 'tsl-umd', displays: { 'cam/{n:1..3}': { index: '{n}' } }, ...settings },
      panel: { type: 'dummy', parameters: ['air,B'] },
    },
    rules:
      'udp' in settings ? [{ name: 'air', from: 'panel/air', map: "value ? 'red' : 'off'", to: 'it/cam/1/lh' }] : [],
    tests: [{ name: 'it', steps }],
  };
  const folder = await createFolder(t, { 'flow.json5': flow });
  let count = 0;
  for await (const result of runFlowTests([`${folder}/flow.json5`])) {
    count++;
    t.true(result.isPassed, result.timeline);
  }
  t.is(count, 1);
}

test('received displays set their parameters, in one turn', async (t) => {
  await run(t, { listen: 8900 }, [
    {
      receive: '1 "CAM 1" lh=red brightness=2 ; 2 "CAM 2" ; 9 "nobody"',
      expect: {
        'it/cam/1/text': 'CAM 1',
        'it/cam/1/lh': 1,
        'it/cam/1/brightness': 2,
        'it/cam/2/rh': 0,
        'it/cam/3/text': null,
      },
    },
  ]);
});

test('written displays are sent, changed ones first, and all of them again', async (t) => {
  const displays = { 'cam/{n:1..3}': { index: '{n}', text: 'CAM {n}' } };
  await run(t, { udp: '10.0.0.5:8900', spacing: '100ms', refresh: '5s', displays }, [
    { sent: '1 "CAM 1" brightness=3 ; 2 "CAM 2" brightness=3 ; 3 "CAM 3" brightness=3' },
    { set: { 'panel/air': true }, sent: [] },
    { at: '99ms', sent: [] },
    { at: '100ms', sent: '1 "CAM 1" lh=red brightness=3' },
    { at: '1s', set: { 'it/cam/2/text': 'two' }, sent: '2 "two" brightness=3' },
    { at: '5s', sent: '1 "CAM 1" lh=red brightness=3 ; 2 "two" brightness=3 ; 3 "CAM 3" brightness=3' },
  ]);
});

test('silence makes values stale', async (t) => {
  await run(t, { listen: 8900, idleTimeout: '4s' }, [
    { receive: '1 "CAM 1" lh=red', stale: false },
    { at: '4s', stale: true, expect: { 'it/cam/1/lh': 1 } },
    { at: '5s', receive: '1 "CAM 1" lh=green', stale: false, expect: { 'it/cam/1/lh': 2 } },
  ]);
});

for (const [settings, mistake] of [
  ['udp: "10.0.0.1:1", listen: 9000', /expected exactly one of `listen`, `tcpListen`, `udp` and `tcp`/],
  ['version: 5', /expected exactly one of `listen`, `tcpListen`, `udp` and `tcp`/],
  ['listen: 1, version: 2', /version: (?:expected )?one of 3\.1, 4, 5/],
  [
    'listen: 1, version: 3.1, displays: { a: { index: 127 } }',
    /displays\.a\.index: expected an integer 0\.\.126, got "127"/,
  ],
  ['listen: 1, version: 4, displays: { a: { index: 1, screen: 2 } }', /expected no screen in version 4/],
  ["listen: 1, displays: { 'a/{n:1..2}': { index: 7 } }", /expected each index once, got 7 twice/],
  ["listen: 1, displays: { 'a/{n:1..2}': { index: '{m}' } }", /unknown variable "m", expected one of n/],
  ["listen: 1, displays: { 'a/{n:1..2}': { index: 'x{n}' } }", /expected an integer 0\.\.65535, got "x1"/],
  [
    "listen: 1, displays: { 'a/{n:1..2}': { index: '{n}' }, 'a/2': { index: 9 } }",
    /expected each display once, got "a\/2"/,
  ],
  ["listen: 1, displays: { 'a/{n:1..5000}': { index: '{n}' } }", /expected at most 4096 displays/],
  ["listen: 1, displays: { 'a//b': { index: 1 } }", /expected a Parameter ID without empty segments/],
  ["udp: '10.0.0.1'", /expected host:port/],
] as const)
  test(`the settings ${settings} are refused`, async (t) => {
    const folder = await createFolder(t, {
      'flow.json5': `{ connections: {\n it: { type: 'tsl-umd', ${settings} } } }`,
    });
    const error = await t.throwsAsync(loadFlows([folder]));
    t.regex(error!.message, mistake);
  });

test('the JSON Schema accepts and refuses what the check does', (t) => {
  const validate = new Ajv2020({ strict: false, logger: false }).compile(flowFileJsonSchema(connectionTypes));
  const isValid = (settings: object) => validate({ connections: { it: { type: 'tsl-umd', ...settings } } });
  t.true(isValid({ version: 3.1, listen: 9000, displays: { a: { index: 1 } } }));
  t.true(isValid({ udp: ['10.0.0.1:1', '10.0.0.2:1'], refresh: false, displays: { 'a/{n:1..2}': { index: '{n}' } } }));
  t.false(isValid({ version: 3, listen: 9000 }));
  t.false(isValid({ listen: 9000, displays: { a: { idx: 1 } } }));
});
