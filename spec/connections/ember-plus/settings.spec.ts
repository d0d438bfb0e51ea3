// The settings of ember-plus: what they mean in tests of flow files in virtual time, and what is wrong with them and where.

import test, { type ExecutionContext } from 'ava';
import { loadFlows } from '../../../lib/hub/index.ts';
import { runFlowTests } from '../../../lib/testing/run-tests.ts';
import { mistakesOf } from '../../support/core.ts';
import { createFolder } from '../../support/folder.ts';

async function run(t: ExecutionContext, settings: object, steps: object[]): Promise<void> {
  const it = { type: 'ember-plus', tcp: '10.0.0.1:9000', ...settings };
  const folder = await createFolder(t, { 'flow.json5': { connections: { it }, tests: [{ name: 'it', steps }] } });
  let count = 0;
  for await (const result of runFlowTests([`${folder}/flow.json5`])) {
    count++;
    t.true(result.isPassed, result.timeline);
  }
  t.is(count, 1);
}

const expect = ['d/a,I', 'd/m/0,I', 'd/go,T'];

test('a tree is read node by node; values are fresh once all of it is known', async (t) => {
  await run(t, { expect }, [
    { sent: 'get' },
    { receive: '1 node "d"', sent: 'get 1' },
    {
      receive: '1.1 parameter "a" = 5; 1.2 matrix "m" 2x3; 1.3 function "go"; 1.4 node "n"',
      sent: ['subscribe 1.2', 'get 1.2', 'get 1.4'],
      expect: { 'it/d/a': 5 },
    },
    { receive: '1.2 matrix "m" 2x3; 1.2 connect 0 = 2', expect: { 'it/d/m/0': 2 } },
    { receive: '1.4 node', stale: false },
    { at: '1s', set: { 'it/d/a': 6, 'it/d/m/0': 1 }, sent: ['1.1 = 6', '1.2 connect 0 = 1'], wanted: { 'it/d/a': 6 } },
    { receive: '1.1 = 6; 1.2 connect 0 = 1', expect: { 'it/d/a': 6, 'it/d/m/0': 1 } },
    { at: '2s', set: { 'it/d/m/0': -1, 'it/d/go': true }, sent: ['1.2 connect 0 = none', 'invoke 1.3'] },
  ]);
});

test('a node that is not answered is asked twice; one without children need not be answered', async (t) => {
  await run(t, { expect, timeout: '1s', idleTimeout: '30s' }, [
    { receive: '1 node "d"; 1.1 parameter "a" = 5', sent: ['get', 'get 1'] },
    { at: '1s', sent: 'get 1' },
    { at: '2s', stale: false, expect: { 'it/d/a': 5 } },
  ]);
});

test('a refused write says so; a silent provider is asked whether it is alive, and is then stale', async (t) => {
  await run(t, { expect, idleTimeout: '3s' }, [
    { receive: '1 node "d"; 1.1 parameter "a" = 5', sent: ['get', 'get 1'] },
    { receive: '1 node', stale: false },
    { at: '500ms', set: { 'it/d/a': 6 }, sent: '1.1 = 6', wanted: { 'it/d/a': 6 } },
    { receive: '1.1 = 5', wanted: { 'it/d/a': null }, expect: { 'it/d/a': 5 } },
    { at: '1s', sent: 'keep-alive' },
    { receive: 'keep-alive answer' },
    { receive: 'keep-alive', sent: 'keep-alive answer' },
    { at: '3500ms', stale: false },
    { at: '4s', stale: true, expect: { 'it/d/a': 5 } },
  ]);
});

const valid = { type: 'ember-plus', listen: 9000 };
const router = { targets: 'desk/out/{n:0..1}', sources: 2 };

for (const [settings, mistake] of [
  [{ tcp: '10.0.0.1:9000' }, /expected exactly one of `tcp` and `listen`/],
  [{ listen: undefined }, /expected exactly one of `tcp` and `listen`/],
  [{ hosts: ['10.0.0.2:9000'] }, /expected `hosts` only if `tcp` is set/],
  [{ expect: ['a,I'] }, /connections\.it\.expect: expected `expect` only if `tcp` is set/],
  [{ listen: undefined, tcp: '10.0.0.1:9000', read: ['a/**'] }, /expected `read` only if `listen` is set/],
  [{ listen: undefined, tcp: '10.0.0.1:9000', expect: ['a'] }, /expected a value type S, B, I, F or T after the comma/],
  [{ listen: undefined, tcp: '10.0.0.1:9000', expect: ['a//b,I'] }, /without empty segments/],
  [{ listen: undefined, tcp: '10.0.0.1:9000', expect: ['a,I', 'a,I'] }, /each parameter once/],
  [{ name: 'a/b' }, /text of 1 to 64 characters without \/ and \./],
  [{ matrices: { r: { ...router, targets: 'desk/out/{n}' } } }, /matrices\.r\.targets.*\{n:1\.\.32\}/],
  [{ matrices: { r: { ...router, targets: 'out{n:0..1}' } } }, /expected addresses such as router\/out\/1, got "out0"/],
  [{ idleTimeout: 5 }, /integer 300\.\.600000/],
] as const)
  test(`an error in the settings: ${JSON.stringify(settings)}`, async (t) => {
    const it = Object.fromEntries(Object.entries({ ...valid, ...settings }).filter(([, value]) => value !== undefined));
    const mistakes = await mistakesOf(t, { connections: { it } });
    t.true(
      mistakes.some((one) => mistake.test(one)),
      mistakes.join('\n'),
    );
  });

test('a provider that shows nothing, lacks a target, or lets anyone write is a hint', async (t) => {
  const connections = {
    desk: { type: 'dummy', parameters: ['out/0,I'] },
    nothing: { type: 'ember-plus', listen: 9001 },
    open: { type: 'ember-plus', listen: '0.0.0.0:9002', write: ['desk/**'], matrices: { router } },
  };
  const { hints } = await loadFlows([await createFolder(t, { 'flow.json5': { connections } })]);
  const found = [...(hints?.() ?? [])].map(String).join('\n');
  t.regex(found, /nothing: the provider shows nothing; set `read`, `write` or `matrices`/);
  t.regex(found, /open\.matrices\.router\.targets: there is no parameter desk\/out\/1/);
  t.regex(found, /open\.write: anyone who can reach the port can write these parameters; set allowFrom/);
});
