// Tests of flow files with devices: what a device sends, what the hub must have sent, and the time between, all of it virtual.

import { once } from 'node:events';
import { createServer } from 'node:net';
import { Ajv2020 } from 'ajv/dist/2020.js';
import test, { type ExecutionContext } from 'ava';
import { flowFileJsonSchema } from '../../lib/flow/check/schema.ts';
import { testFlow } from '../../lib/index.ts';
import { type FlowTestResult, runFlowTests } from '../../lib/testing/run-tests.ts';
import { connectionTypes } from '../support/connection-types.ts';
import { createFolder } from '../support/folder.ts';

const router = { type: 'device', tcp: '127.0.0.1:9', protocol: 'videohub', variables: { inputs: 8, outputs: 4 } };
const desk = {
  type: 'dummy',
  parameters: ['take,I', 'swap,T', 'lamp,B', 'ok,B,false', 'gain,F', 'ping,T', 'label,S'],
};
const rules = [
  { name: 'take', from: 'desk/take', to: 'router/out/0' },
  { name: 'swap', from: 'desk/swap', map: "wanted('router/out/1') == 1 ? 2 : 1", to: 'router/out/1' },
  { name: 'lamp', from: 'router/out/0', map: 'value == 3', to: 'desk/lamp' },
  { name: 'ok', from: 'desk/ping', map: "fresh('router/out/0')", to: 'desk/ok' },
  { name: 'label', from: 'desk/label', to: 'router/out/2/label' },
];
/** What the router says after a connect. The first ACK is for the PING. */
const prelude = [
  'PROTOCOL PREAMBLE:\nVersion: 2.3',
  'VIDEO OUTPUT ROUTING:\n0 5\n1 1\n2 2\n3 3',
  'END PRELUDE:',
  'ACK',
];

async function resultsOf(t: ExecutionContext, flow: object, more: Record<string, string> = {}) {
  const folder = await createFolder(t, { 'flow.json5': flow, ...more });
  const results: FlowTestResult[] = [];
  for await (const result of runFlowTests([`${folder}/flow.json5`])) results.push(result);
  return results;
}

async function run(t: ExecutionContext, steps: object[], flow: object = { connections: { router, desk }, rules }) {
  const [result] = await resultsOf(t, { ...flow, tests: [{ name: 'it', steps }] });
  return result!;
}

const passing: Record<string, object[]> = {
  'a message of the device sets parameters, starts rules, and has no marks or its own': [
    { receive: prelude, expect: { 'router/out/0': 5, 'desk/lamp': false }, stale: false },
    { receive: 'VIDEO OUTPUT ROUTING:\n0 3\n\n', expect: { 'desk/lamp': true } },
    { receive: { text: 'VIDEO OUTPUT ROUTING:\n0 4\n' }, expect: { 'desk/lamp': false } },
    { receive: { hex: '564944454f204f555450555420524f5554494e473a0a 30 20 33 0A 0A' }, expect: { 'desk/lamp': true } },
  ],
  'what a rule writes is sent, is pending, and is the value once the device reports it': [
    { receive: prelude },
    { set: { 'desk/take': 7 }, sent: 'VIDEO OUTPUT ROUTING:\n0 7', wanted: { 'router/out/0': 7 } },
    { expect: { 'router/out/0': 5 } },
    { at: '50ms', receive: ['ACK', 'VIDEO OUTPUT ROUTING:\n0 7'], expect: { 'router/out/0': 7 } },
    { wanted: { 'router/out/0': null }, sent: [] },
  ],
  'one step sets, receives, and then checks': [
    { receive: prelude },
    {
      set: { 'router/out/3': 6 },
      receive: ['ACK', 'VIDEO OUTPUT ROUTING:\n3 6'],
      sent: ['VIDEO OUTPUT ROUTING:\n3 6'],
      expect: { 'router/out/3': 6 },
    },
  ],
  'two toggles toggle twice before the device has answered': [
    { receive: prelude, sent: 'PING:' },
    { set: { 'desk/swap': true }, sent: 'VIDEO OUTPUT ROUTING:\n1 2' },
    { set: { 'desk/swap': true }, sent: 'VIDEO OUTPUT ROUTING:\n1 1' },
  ],
  'what was written in one turn leaves as one message, and other messages do not count': [
    { receive: prelude },
    { set: { 'router/out/2': 7, 'router/out/3': 7 }, sent: 'VIDEO OUTPUT ROUTING:\n2 7\n3 7' },
    { at: '6s', sent: ['PING:'] },
  ],
  'a device that says nothing is stale after its idle timeout, and not before': [
    { receive: prelude },
    { at: '14.9s', stale: false },
    { at: '15s', stale: true, expect: { 'router/out/0': 5 } },
    { set: { 'desk/ping': true }, expect: { 'desk/ok': false } },
  ],
  'a link that breaks makes values stale and ends what is pending; the hub comes back by itself': [
    { receive: prelude, stale: false },
    { set: { 'desk/take': 7, 'desk/ping': true }, wanted: { 'router/out/0': 7 }, expect: { 'desk/ok': true } },
    { at: '1s', link: 'down', stale: true, wanted: { 'router/out/0': null }, sent: 'VIDEO OUTPUT ROUTING:\n0 7' },
    { at: '3s', link: 'up', sent: [] },
    { at: '9s', receive: prelude, stale: false, sent: ['PING:'], expect: { 'router/out/0': 5 } },
  ],
  'a write that the device takes and does not report is given up after 5 s': [
    { receive: prelude },
    { set: { 'desk/take': 7 }, receive: 'ACK', wanted: { 'router/out/0': 7 } },
    { at: '4.9s', receive: 'ACK', wanted: { 'router/out/0': 7 } },
    { at: '5s', wanted: { 'router/out/0': null }, expect: { 'router/out/0': 5 } },
  ],
  'a value with the end of a message in it is not sent': [
    { receive: prelude, sent: 'PING:' },
    { set: { 'desk/label': 'a\n\nb' }, sent: [] },
    { set: { 'desk/label': 'Monitor 2' }, sent: 'OUTPUT LABELS:\n2 Monitor 2' },
  ],
};
for (const [name, steps] of Object.entries(passing))
  test(name, async (t) => {
    const { isPassed, timeline } = await run(t, steps);
    t.true(isPassed, timeline);
  });

const failing: Record<string, [steps: object[], mark: RegExp]> = {
  'a message that was not sent': [
    [{ receive: prelude }, { set: { 'desk/take': 7 }, sent: 'VIDEO OUTPUT ROUTING:\n0 6' }],
    /^>> .*router: expected to have sent "VIDEO OUTPUT ROUTING:\\n0 6", got "PING:", "VIDEO OUTPUT ROUTING:\\n0 7" \(.*flow\.json5:\d+:\d+\)$/m,
  ],
  'a message that was sent twice, and one too many': [
    [
      { receive: prelude },
      { set: { 'router/out/0': 7 } },
      { set: { 'router/out/0': 7 }, sent: 'VIDEO OUTPUT ROUTING:\n0 7' },
    ],
    /router: expected to have sent "VIDEO OUTPUT ROUTING:\\n0 7", got "PING:", ("VIDEO OUTPUT ROUTING:\\n0 7"(, )?){2} /,
  ],
  'messages in another order': [
    [
      { receive: prelude },
      { set: { 'router/out/0': 7 } },
      { set: { 'router/out/1': 7 }, sent: ['VIDEO OUTPUT ROUTING:\n1 7', 'VIDEO OUTPUT ROUTING:\n0 7'] },
    ],
    /expected to have sent "VIDEO OUTPUT ROUTING:\\n1 7", "VIDEO OUTPUT ROUTING:\\n0 7", got/,
  ],
  'nothing, although there was a PING': [
    [{ receive: prelude, sent: [] }],
    /expected to have sent nothing, got "PING:" \(/,
  ],
  'stale values that are fresh, and fresh ones that are stale': [
    [{ receive: prelude, stale: true }],
    /router: expected stale values, got fresh ones \(/,
  ],
  'no pending write': [
    [{ receive: prelude, wanted: { 'router/out/0': 7 } }],
    /router\/out\/0 +expected the pending write 7, got none \(/,
  ],
  'a message while the link is down': [
    [{ receive: prelude }, { link: 'down', receive: 'ACK', stale: true }],
    /router: expected an open link to the device, got none at this time \(/,
  ],
  'and the messages are in the timeline': [
    [{ receive: prelude, expect: { 'router/out/0': 6 } }],
    /^ {4}0:00:00\.000 {2}router < "VIDEO OUTPUT ROUTING:\\n0 5\\n1 1\\n2 2\\n3 3"$/m,
  ],
};
for (const [name, [steps, mark]] of Object.entries(failing))
  test(`a test fails: ${name}`, async (t) => {
    const { isPassed, timeline } = await run(t, steps);
    t.false(isPassed);
    t.regex(timeline, mark);
  });

test('each mistake has its place, and the nearest name', async (t) => {
  const steps = [
    { receive: { ruoter: 'ACK' } },
    { sent: { desk: 'ACK' } },
    { receive: { camera: ['zz'] } },
    { receive: 'ACK' },
    { set: { 'camera/zoom': 1, 'router/model': 'x' }, receive: { router: 'ACK' } },
    { recieve: 'ACK' },
    { link: 'away', expect: {} },
    { receive: { router: 5 } },
    { wanted: { 'desk/take': 1 } },
  ];
  const camera = { type: 'device', udp: '127.0.0.1:9', protocol: 'visca-ip' };
  const mistakesOf = async (some: object[]) => {
    const [{ timeline }] = (await resultsOf(t, {
      connections: { router, camera, desk },
      tests: [{ name: 'it', steps: some }],
    })) as [FlowTestResult];
    return timeline.replaceAll(/^.*(?=flow\.json5)/gm, '').split('\n');
  };
  const found = await mistakesOf([...steps.slice(0, 5), steps[8]!]);
  const expected = [
    /^flow\.json5:\d+:\d+: tests\[0\]\.steps\[0\]\.receive\.ruoter: unknown device "ruoter", did you mean "router"\?$/,
    /^flow\.json5:\d+:\d+: tests\[0\]\.steps\[1\]\.sent\.desk: expected a connection to a device, but "desk" is of type dummy$/,
    /^flow\.json5:\d+:\d+: tests\[0\]\.steps\[2\]\.receive\.camera\[0\]: expected bytes in hex such as "81 01 FF", got "zz"/,
    /^flow\.json5:\d+:\d+: tests\[0\]\.steps\[3\]\.receive: expected \{ <Connection ID>: … \}, because there are several devices: router, camera$/,
    /^flow\.json5:\d+:\d+: tests\[0\]\.steps\[4\]\.set\["router\/model"\]: .*only its device can set it, with `receive`$/,
    /^flow\.json5:\d+:\d+: tests\[0\]\.steps\[5\]\.wanted\["desk\/take"\]: expected a device parameter that has a state, got "desk\/take"$/,
  ];
  t.is(found.length, expected.length, found.join('\n'));
  for (const [index, mark] of expected.entries()) t.regex(found[index]!, mark);
  const shapes = (await mistakesOf(steps.slice(5, 8))).join('\n');
  t.regex(
    shapes,
    /flow\.json5:\d+:\d+: tests\[0\]\.steps\[0\]\.recieve: unknown setting "recieve", did you mean "receive"\?/,
  );
  t.regex(
    shapes,
    /flow\.json5:\d+:\d+: tests\[0\]\.steps\[1\]\.link: expected up, down, or \{ <Connection ID>: … \}, got "away"/,
  );
  t.regex(shapes, /flow\.json5:\d+:\d+: tests\[0\]\.steps\[2\]\.receive: expected a message, .* got /);
  const none = await resultsOf(t, {
    connections: { desk },
    tests: [{ name: 'it', steps: [{ receive: 'x', expect: {} }] }],
  });
  t.regex(none[0]!.timeline, /receive: expected a connection to a device, such as type "device", .* got none/);
});

test('the errors of a connection are not reported again for each step that plays it', async (t) => {
  const [{ timeline }] = (await resultsOf(t, {
    connections: { router: { ...router, protocol: 'vidoehub' } },
    tests: [{ name: 'it', steps: [{ receive: 'ACK' }, { at: 1, sent: { router: 'x' }, stale: true, expect: {} }] }],
  })) as [FlowTestResult];
  t.regex(timeline, /protocol: unknown protocol "vidoehub", did you mean "videohub"\?/);
  t.notRegex(timeline, /expected a connection|unknown device/);
});

test('no socket opens, with or without steps for the device', async (t) => {
  const server = createServer(() => t.fail('a test has connected'));
  server.listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const connections = { desk, router: { ...router, tcp: `127.0.0.1:${port}` } };
  const tests = [
    {
      name: 'played',
      steps: [
        { receive: prelude, expect: { 'router/out/0': 5 } },
        { at: '10m', stale: true },
      ],
    },
    { name: 'set', steps: [{ set: { 'router/model': 'x', 'desk/take': 3 }, expect: { 'router/out/0': 3 } }] },
    { name: 'simulated by the test', steps: [{ at: '1h', set: { 'desk/take': 2 }, expect: { 'router/out/0': 2 } }] },
  ];
  for (const { isPassed, timeline } of await resultsOf(t, { connections, rules, tests })) t.true(isPassed, timeline);
});

test('several devices, over UDP in hex, over a WebSocket in JSON, and one that dials in', async (t) => {
  const flow = {
    connections: {
      desk,
      camera: { type: 'device', udp: '127.0.0.1:9', protocol: 'visca-ip' },
      it: { type: 'device', ws: 'ws://127.0.0.1:9', protocol: './it.device.json5' },
      gps: { type: 'device', listen: '127.0.0.1:9999', protocol: 'nmea' },
    },
    rules: [{ name: 'zoom', from: 'gps/heading', map: 'value', to: 'camera/zoom' }],
    tests: [
      {
        name: 'it',
        steps: [
          { sent: { camera: '0200000100000000 01' } },
          { receive: { camera: '02 01 00 01 00 00 00 00 01' } },
          { sent: { camera: ['01 10 00 05 00 00 00 02 81 09 04 00 FF'], it: '{"op":1,"level":true}' } },
          {
            receive: {
              camera: ['01 11 00 04 00 00 00 02 90 50 02 FF', { hex: '01 11 00 07 00 00 00 03 90 50 00 00 00 0A FF' }],
              it: '{"op":2,"level":0.5}',
              gps: '$GPHDT,123.456,T*32',
            },
            expect: { 'camera/power': true, 'camera/zoom': 10, 'it/level': 0.5, 'gps/heading': 123.456 },
          },
          { receive: { camera: '01 11 00 04 00 00 00 04 90 50 02 FF' } },
          {
            receive: { gps: '$GPHDT,99.9,T*0C' },
            sent: {
              camera: [
                '01 00 00 09 00 00 00 05 81 01 04 47 00 00 07 0B FF',
                { hex: '01 00 00 09 00 00 00 06 81 01 04 47 00 00 06 03 FF' },
              ],
            },
          },
          { set: { 'it/level': 0.25 }, sent: { it: '{ "level": 0.25, "op": 3 }' } },
          { at: '1s', link: { gps: 'down' }, stale: { gps: true, it: false } },
          { at: '2s', link: { gps: 'up' }, receive: { gps: '$GPHDT,123.456,T*32' }, stale: { gps: false } },
        ],
      },
    ],
  };
  const description = `{
    about: 'It', transports: ['ws'], format: 'json', parameters: { level: { type: 'F',
      ask: { send: { op: 1, level: true }, reply: { op: 2, level: '{value:float}' } },
      write: { send: { op: 3, level: '{value}' } } } } }`;
  const [{ isPassed, timeline }] = (await resultsOf(t, flow, { 'it.device.json5': description })) as [FlowTestResult];
  t.true(isPassed, timeline);
});

test('polling, its timeout, and the pause between messages take virtual time', async (t) => {
  const description = `{
    about: 'It', port: 9, frame: { end: '\\r' }, spacing: '100ms', timeout: '1s', retry: 0, window: 1,
    parameters: {
      level: { type: 'I', ask: { send: 'L?', reply: 'L={value:int}', every: '10s' }, write: { send: 'L={value:int}' } },
      mute: { type: 'B', write: { send: 'M={value:on(1,0)}' } },
    } }`;
  const connections = { it: { type: 'device', tcp: '127.0.0.1', protocol: './it.device.json5' }, desk };
  const steps = [
    { sent: 'L?', receive: 'L=1', expect: { 'it/level': 1 } },
    { at: '9.9s', sent: [] },
    { at: '10s', sent: ['L?'], receive: 'L=2\r', expect: { 'it/level': 2 } },
    { at: '15s', set: { 'it/mute': true, 'it/level': 5 }, sent: 'M=1' },
    { at: '15.09s', sent: [] },
    { at: '15.1s', sent: 'L=5' },
    { at: '20s', sent: 'L?' },
    { at: '20.9s', set: { 'it/mute': false }, sent: [] },
    { at: '21s', sent: 'M=0' },
  ];
  const [{ isPassed, timeline }] = (await resultsOf(
    t,
    { connections, tests: [{ name: 'it', steps }] },
    { 'it.device.json5': description },
  )) as [FlowTestResult];
  t.true(isPassed, timeline);
});

test('instances of a template play their own device', async (t) => {
  const template = {
    variables: { input: 1 },
    connections: { '${instance}': router, '${instance}-desk': { type: 'dummy', parameters: ['go,T'] } },
    rules: [{ from: '${instance}-desk/go', map: 'int(${input})', to: '${instance}/out/0' }],
    tests: [
      {
        name: 'it',
        steps: [
          { receive: prelude },
          { set: { '${instance}-desk/go': true }, sent: 'VIDEO OUTPUT ROUTING:\n0 ${input}' },
          {
            receive: { '${instance}': ['ACK', 'VIDEO OUTPUT ROUTING:\n0 ${input}'] },
            expect: { '${instance}/out/0': '${input}' },
          },
        ],
      },
    ],
  };
  const instances = {
    template: './_router.json5',
    each: { one: { input: 6 }, two: { input: 7 } },
  };
  const results = await resultsOf(t, { instances }, { '_router.json5': JSON.stringify(template) });
  t.is(results.length, 2, results[0]!.timeline);
  for (const { isPassed, timeline } of results) t.true(isPassed, timeline);
});

test('the JSON Schema knows the steps of devices', (t) => {
  const validate = new Ajv2020({ strict: false }).compile(flowFileJsonSchema(connectionTypes));
  const flowOf = (step: object) => ({ tests: [{ name: 'it', steps: [step] }] });
  for (const step of [
    { receive: 'a', sent: ['b', { hex: '81 01' }], stale: false, link: 'up' },
    {
      receive: { router: ['a', { text: 'b' }] },
      sent: { router: [] },
      link: { router: 'down' },
      stale: { router: true },
    },
    { wanted: { 'router/out/1': null } },
  ])
    t.true(validate(flowOf(step)), JSON.stringify(validate.errors));
  for (const step of [
    { receive: 5 },
    { recieve: 'a' },
    { sent: { hex: 'zz', more: 1 } },
    { link: 'away' },
    { stale: 1 },
  ])
    t.false(validate(flowOf(step)), JSON.stringify(step));
});

test('from TypeScript: the option devices names the devices that the steps play', async (t) => {
  const connections = { router, desk };
  const flow = await testFlow({ connections, rules }, { devices: ['router'] });
  t.teardown(() => flow.stop());
  flow.do([{ receive: prelude, expect: { 'router/out/0': 5 } }]);
  flow.do([{ set: { 'desk/take': 3 }, sent: 'VIDEO OUTPUT ROUTING:\n0 3' }]);
  t.is(flow.read('router/out/0'), 5);
  flow.do([{ receive: ['ACK', 'VIDEO OUTPUT ROUTING:\n0 3'] }]);
  flow.expect({ 'desk/lamp': true });
  t.throws(() => flow.do([{ sent: 'VIDEO OUTPUT ROUTING:\n0 3' }]), { code: 'test-failed' });
  await t.throwsAsync(testFlow({ connections, rules }, { devices: ['ruoter'] }), {
    message: /devices: unknown device "ruoter", did you mean "router"\?/,
  });
});
