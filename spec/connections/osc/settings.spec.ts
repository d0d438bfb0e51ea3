// The settings of osc: what they mean in tests of flow files, what is wrong with them and where, and what patterns match.

import { Ajv2020 } from 'ajv/dist/2020.js';
import test, { type ExecutionContext } from 'ava';
import { compilePattern, maxAlternatives } from '../../../lib/connections/osc/address-table.ts';
import { flowFileJsonSchema } from '../../../lib/flow/check/schema.ts';
import { loadFlows } from '../../../lib/hub/index.ts';
import { runFlowTests } from '../../../lib/testing/run-tests.ts';
import { connectionTypes } from '../../support/connection-types.ts';
import { createFolder } from '../../support/folder.ts';

const desk = { type: 'osc', udp: '10.0.0.40:10023' };
const fader = { address: '/ch/{n:00}/fader', type: 'F', min: 0, max: 1 };
const faders = { 'ch/{n:1..12}/fader': fader };

async function run(t: ExecutionContext, settings: object, steps: object[]): Promise<void> {
  const flow = {
    connections: {
      it: { ...desk, ...settings },
      panel: { type: 'dummy', parameters: ['go,T', 'sum,F', 'x,F', 'y,F'] },
    },
    rules: [
      { name: 'x', from: 'panel/x', to: 'it/x' },
      { name: 'y', from: 'panel/x', map: 'value * 2', to: 'it/y' },
    ].filter(({ to }) => to.slice(3) in ((settings as { parameters?: object }).parameters ?? {})),
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

test('a bundle takes effect at its time, and one in the past immediately', async (t) => {
  await run(t, { parameters: faders }, [
    {
      receive: '#bundle 2024-01-01T00:00:02Z { /ch/01/fader f 0.5 ; /ch/12/fader f 1 }',
      expect: { 'it/ch/1/fader': null },
    },
    { receive: '#bundle 2023-01-01T00:00:00Z { /ch/02/fader f 0.25 }', expect: { 'it/ch/2/fader': 0.25 } },
    {
      receive: '#bundle now { /ch/03/fader f 0.5 ; #bundle 2024-01-01T00:00:03Z { /ch/03/fader f 1 } }',
      expect: { 'it/ch/3/fader': 0.5 },
    },
    { at: '1999ms', expect: { 'it/ch/1/fader': null } },
    { at: '2s', expect: { 'it/ch/1/fader': 0.5, 'it/ch/12/fader': 1 } },
    { at: '3s', expect: { 'it/ch/3/fader': 1 } },
  ]);
});

test('a write is asked for until it is confirmed, and given up after five seconds', async (t) => {
  await run(t, { confirm: 'ask', parameters: faders }, [
    { receive: '/ch/01/fader f 0.5', expect: { 'it/ch/1/fader': 0.5 } },
    { set: { 'it/ch/1/fader': 0.7 }, sent: ['/ch/01/fader f 0.7', '/ch/01/fader'], wanted: { 'it/ch/1/fader': 0.7 } },
    { at: '1s', sent: '/ch/01/fader' },
    { receive: '/ch/01/fader f 0.7', expect: { 'it/ch/1/fader': 0.7 }, wanted: { 'it/ch/1/fader': null } },
    { at: '3s', sent: [] },
    { set: { 'it/ch/1/fader': 0.9 } },
    { at: '7s', wanted: { 'it/ch/1/fader': 0.9 } },
    { at: '8s', wanted: { 'it/ch/1/fader': null }, expect: { 'it/ch/1/fader': 0.7 } },
  ]);
});

test('queries and questions are sent after a connect and regularly, and silence makes values stale', async (t) => {
  const settings = {
    idleTimeout: '4s',
    queries: [{ send: '/xremote', every: '2s' }, { send: '/info' }],
    parameters: { main: { address: '/main', type: 'F', ask: '3s' } },
  };
  await run(t, settings, [
    { sent: ['/xremote', '/info', '/main'] },
    { receive: '/main f 0.5', stale: false, expect: { 'it/main': 0.5 } },
    { at: '3s', sent: ['/xremote', '/main'] },
    { at: '4s', stale: true, expect: { 'it/main': 0.5 } },
    { at: '5s', receive: '/main f 0.5', stale: false },
  ]);
});

test('what is written in a turn goes as a bundle, with a time tag if there is a latency', async (t) => {
  const parameters = { x: { address: '/x', type: 'F' }, y: { address: '/y', type: 'F' } };
  await run(t, { bundles: true, parameters }, [
    { set: { 'panel/x': 1 }, sent: '#bundle now { /x f 1 ; /y f 2 }' },
    { set: { 'it/x': 3 }, sent: '/x f 3' },
  ]);
  await run(t, { bundles: '50ms', parameters }, [
    { at: '1s', set: { 'panel/x': 1 }, sent: '#bundle 2024-01-01T00:00:01.050Z { /x f 1 ; /y f 2 }' },
  ]);
});

test('what rules write while the hub starts is sent', async (t) => {
  const parameters = {
    x: { address: '/x', type: 'F' },
    note: { address: '/note', args: 'm', type: 'S', confirm: 'echo' },
  };
  await run(t, { parameters }, [
    { set: { 'panel/x': 0.25 }, sent: '/x f 0.25' },
    { set: { 'it/note': '00 90 3C 7F' }, sent: '/note m 00903c7f', wanted: { 'it/note': '00903c7f' } },
    { receive: '/note m 00903c7f', expect: { 'it/note': '00903c7f' }, wanted: { 'it/note': null } },
  ]);
});

test('a value that a peer changes goes back to it only if feedback says so', async (t) => {
  await run(t, { parameters: faders }, [{ receive: '/ch/01/fader f 0.5', sent: [] }]);
  await run(t, { feedback: 'all', parameters: faders }, [
    { receive: '/ch/01/fader f 0.5', sent: '/ch/01/fader f 0.5' },
    { receive: '/ch/01/fader f 0.5', sent: [] },
  ]);
});

test('a peer that asks is answered', async (t) => {
  await run(t, { parameters: faders }, [
    { receive: '/ch/01/fader', sent: [] },
    { receive: ['/ch/01/fader f 0.5', '/ch/0?/fader'], sent: '/ch/01/fader f 0.5' },
  ]);
});

test('arguments convert, nil is unknown, and a released button fires nothing', async (t) => {
  const parameters = {
    n: { address: '/n', type: 'I' },
    s: { address: '/s', type: 'S' },
    go: { address: '/go' },
    level: { address: '/level', args: [7, 'f'] },
    mode: { address: '/mode', type: 'I', choices: { off: 0, on: 1 } },
  };
  await run(t, { parameters }, [
    { receive: '/n f 2.75', expect: { 'it/n': 2 } },
    { receive: '/n s "12"', expect: { 'it/n': 12 } },
    { receive: '/n N', expect: { 'it/n': null } },
    { receive: '/s i 5', expect: { 'it/s': '5' } },
    { receive: ['/go f 0', '/go F'], expect: { 'it/go': false } },
    { receive: ['/go', '/go f 1', '/go I'], expect: { 'it/go': 3 } },
    { receive: ['/level if 8 0.5', '/level if 7 0.25', '/level f 0.75'], expect: { 'it/level': 0.25 } },
    { set: { 'it/level': 1 }, sent: '/level if 7 1' },
    { receive: '/mode s "on"', expect: { 'it/mode': 1 } },
  ]);
});

async function mistakesOf(t: ExecutionContext, settings: string): Promise<string[]> {
  const folder = await createFolder(t, { 'flow.json5': `{ connections: {\n it: { type: 'osc', ${settings} } } }` });
  try {
    await loadFlows([folder]);
    return [];
  } catch (error) {
    return (error as Error).message.split('\n').map((line) => line.replace(/^.*?flow\.json5:/, ''));
  }
}

for (const [settings, mistake] of [
  [
    "lisen: 9000, tcp: '10.0.0.1:1'",
    /^2:21: connections\.it\.lisen: unknown setting "lisen", did you mean "listen"\?$/,
  ],
  [
    "udp: '10.0.0.1'",
    /^2:21: connections\.it\.udp: expected host:port, such as "10\.0\.0\.40:10023", got "10\.0\.0\.1"$/,
  ],
  ["udp: '10.0.0.1:1', tcp: '10.0.0.1:1'", /expected exactly one of `tcp`, `tcpListen`, and `udp` or `listen`/],
  ["udp: '10.0.0.1:1', hosts: ['10.0.0.2:1']", /expected `hosts` only if `tcp` is set/],
  ["listen: 1, allowFrom: ['10.0.0.0/33']", /allowFrom\[0\]: expected an IP address, or a network/],
  ["listen: 1, queries: [{ send: 'xremote' }]", /queries\[0\]\.send: expected an address such as/],
  ["listen: 1, confirm: 'eco'", /confirm: expected one of none, echo, ask, got "eco"/],
  [
    "listen: 1, parameters: { a: { address: 'a' } }",
    /^2:\d+: connections\.it\.parameters\.a\.address: expected an OSC address/,
  ],
  ["listen: 1, parameters: { a: { address: '/a*' } }", /without spaces or any of # \* , \? \[ \] \{ \}/],
  ["listen: 1, parameters: { 'a/{n:1..3}': { address: '/a/{m}' } }", /unknown variable "m", expected one of n/],
  ["listen: 1, parameters: { 'a/{n:1..3}': { address: '/a' } }", /expected the variable \{n\} of the Parameter ID/],
  ["listen: 1, parameters: { 'a/{n}': { address: '/a' } }", /expected the values of a variable such as \{n:1\.\.32\}/],
  [
    "listen: 1, parameters: { 'a/{n:1..30000}': { address: '/a/{n}' } }",
    /expected the values of a variable|at most 20000/,
  ],
  [
    "listen: 1, parameters: { 'a/{n:1..2}': { address: '/a/{n}' }, 'a/2': { address: '/b' } }",
    /expected each parameter once, got "a\/2"/,
  ],
  ["listen: 1, parameters: { a: { address: '/a', args: 'q' } }", /args: expected a type tag such as "f"/],
  ["listen: 1, parameters: { a: { address: '/a', args: ['f', 'f'] } }", /expected names for several parts/],
  ["listen: 1, parameters: { a: { address: '/a', args: ['x:f', 'f'] } }", /expected names for all parts/],
  ["listen: 1, parameters: { a: { address: '/a', args: ['x:f', 'x:f'] } }", /expected a different name for each part/],
  ["listen: 1, parameters: { a: { address: '/a', args: ['[', 'f'] } }", /expected a "\]" after each "\["/],
  [
    "listen: 1, parameters: { a: { address: '/a', type: 'F', args: 7 } }",
    /expected an argument with the value of type F/,
  ],
  [
    "listen: 1, parameters: { a: { address: '/a', arg: 1, access: 'read-write' } }",
    /expected `access` to be read-only with `arg`/,
  ],
  ["listen: 1, parameters: { a: { address: '/a', ask: true } }", /expected `ask` only on a readable parameter/],
  ["listen: 1, parameters: { a: { address: '/a', args: [{ r: 'red' }] } }", /expected bytes in hex|expected a colour/],
] as const)
  test(`the settings ${settings} are refused`, async (t) => {
    const mistakes = await mistakesOf(t, settings);
    t.true(
      mistakes.some((one) => mistake.test(one)),
      mistakes.join('\n'),
    );
  });

test('the check warns of lists that name nothing, and of writers that nobody has restricted', async (t) => {
  const tree = { read: ['dsk/**', 'panel/**'], write: ['panel/x'] };
  const panel = { type: 'dummy', parameters: ['x,F'] };
  const flow = { connections: { panel, it: { type: 'osc', listen: '0.0.0.0:9000', tree } } };
  const { hints } = await loadFlows([await createFolder(t, { 'flow.json5': flow })]);
  const found = [...(hints?.() ?? [])].map((one) => String(one).replace(/^.*?: (?=connections)/, ''));
  t.deepEqual(found, [
    'connections.it.tree.read[0]: no parameter matches "dsk/**"',
    'connections.it.tree.write: anyone who can reach the port can write these parameters; set allowFrom',
  ]);
});

test('the JSON Schema accepts and refuses what the check does', (t) => {
  const validate = new Ajv2020({ strict: false, logger: false }).compile(flowFileJsonSchema(connectionTypes));
  const isValid = (settings: object) => validate({ connections: { it: { type: 'osc', ...settings } } });
  t.true(
    isValid({ udp: '10.0.0.1:1', parameters: { a: { address: '/a', args: ['x:f', { s: 'b' }, 7, '[', 'y:i', ']'] } } }),
  );
  t.true(isValid({ listen: 9000, idleTimeout: '5s', tree: { read: ['desk/**'] } }));
  t.false(isValid({ listen: 9000, parameters: { a: { adress: '/a' } } }));
  t.false(isValid({ listen: 9000, confirm: 'eco' }));
});

for (const [pattern, yes, no] of [
  ['/a?c', ['/abc'], ['/ac', '/abbc', '/a/c']],
  ['/a*', ['/a', '/abc'], ['/b', '/a/b']],
  ['/*/x', ['/a/x'], ['/x', '/a/b/x']],
  ['/[a-c]', ['/a', '/c'], ['/d', '/']],
  ['/[!a-c]', ['/d'], ['/a']],
  ['/[a-]', ['/-', '/a'], ['/b']],
  ['/{on,off}', ['/on', '/off'], ['/o']],
  ['/{a,b}/{c,d*}', ['/a/c', '/b/dd'], ['/a/e']],
  ['//fader', ['/fader', '/a/fader', '/a/b/fader'], ['/fader/a']],
  ['/a//c/*', ['/a/c/d', '/a/b/b/c/d'], ['/a/c', '/b/c/d']],
  ['//a/b//c', ['/x/a/b/c', '/a/a/b/y/c'], ['/a/c']],
  ['/*a*a*a*b', [`/${'a'.repeat(50)}b`], [`/${'a'.repeat(1000)}`]],
] as const)
  test(`the pattern ${pattern.slice(0, 40)} matches what the specification says`, (t) => {
    const matcher = compilePattern(pattern);
    if (typeof matcher === 'string') return t.fail(matcher);
    for (const address of yes) t.true(matcher.matches(address), address);
    for (const address of no) t.false(matcher.matches(address), address);
  });

for (const [pattern, reason] of [
  ['/[a', /\] after a \[/],
  ['/a]', /\[ before a \]/],
  ['/{a', /matching braces/],
  ['/a}', /matching braces/],
  ['/{a,{b}}', /matching braces/],
  ['/a//', /no \/ at the end/],
  [`/${'{a,b}'.repeat(7)}`, new RegExp(`at most ${maxAlternatives} alternatives`)],
] as const)
  test(`the pattern ${pattern} is refused`, (t) => {
    t.regex(String(compilePattern(pattern)), reason);
  });
