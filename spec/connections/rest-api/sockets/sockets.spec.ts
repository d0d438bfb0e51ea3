// The plain realtime socket (S-10, S-09, S-11; D-04, D-06).

import test, { type ExecutionContext } from 'ava';
import { ask } from '../../../support/http.ts';
import { api, expectQuietLog, portsOf, startTestHub, writer } from '../../../support/hub.ts';
import { type Frame, opcodes, openClient, openRawClient } from '../../../support/sockets/socket.ts';

const startDesk = (t: ExecutionContext, parameters: string[], rules: object[] = []) =>
  startTestHub(t, { connections: { api, desk: { type: 'dummy', parameters } }, rules });

const frames: [line: string, value: unknown, frame: string][] = [
  ['p,B', true, '{"p":"desk/p","v":"true"}'],
  ['p,B', 'no', '{"p":"desk/p","v":"false"}'],
  ['p,I', -42, '{"p":"desk/p","v":"-42"}'],
  ['p,F', 0.1, '{"p":"desk/p","v":"0.1"}'],
  ['p,F', 1e21, '{"p":"desk/p","v":"1e+21"}'],
  ['p,S', '', '{"p":"desk/p","v":""}'],
  ['p,S', 'on air', '{"p":"desk/p","v":"on air"}'],
  ['p,S', '"\\\n\u0000 ü 🎚', '{"p":"desk/p","v":"\\"\\\\\\n\\u0000 ü 🎚"}'],
  ['p,S', '\ud800', '{"p":"desk/p","v":"\ufffd"}'],
  ['a "b"/ü,S', 'x', '{"p":"desk/a \\"b\\"/ü","v":"x"}'],
  ['p,T', 'anything', '{"p":"desk/p","v":"1"}'],
];
for (const [line, value, frame] of frames)
  test(`S-09, D-04: ${line} set to ${JSON.stringify(value)} is sent as ${frame}`, async (t) => {
    const hub = await startDesk(t, [line]);
    const client = await openRawClient(t, hub.port);
    hub.write(`desk/${line.split(',')[0]}`, value, writer);
    const { opcode, payload } = await client.frames.next();
    t.is(opcode, opcodes.text);
    t.is(payload.toString(), frame);
  });

const sent: [line: string, v: unknown, reported: string][] = [
  ['p,B', true, 'true'],
  ['p,B', 'TRUE', 'true'],
  ['p,B', 0.5, 'true'],
  ['p,I', '17.9', '17'],
  ['p,I', '-0.5', '0'],
  ['p,I', ' 5 ', '5'],
  ['p,I', '007', '7'],
  ['p,I', true, '1'],
  ['p,F', '1e-1', '0.1'],
  ['p,F', '-0', '0'],
  ['p,F', '1.50', '1.5'],
  ['p,F', '0.12345678901234567', '0.12345678901234566'],
  ['p,S', '1.50', '1.50'],
  ['p,B', '1.50', 'false'],
  ['p,S', 1.5, '1.5'],
  ['p,S', false, 'false'],
  ['p,T', '', '1'],
  ['p,T', 0, '1'],
];
for (const [line, v, reported] of sent)
  test(`S-10, D-02: a client's ${JSON.stringify(v)} to ${line} is sent to it and to others as "${reported}"`, async (t) => {
    const hub = await startDesk(t, [line]);
    const [ann, bob] = [await openClient(t, hub.port), await openClient(t, hub.port)];
    ann.send({ p: 'desk/p', v });
    for (const client of [ann, bob]) t.deepEqual(await client.next(), { p: 'desk/p', v: reported });
  });

test('S-11: changes by rules, timers and pulses are sent, each once and in order', async (t) => {
  const hub = await startTestHub(t, {
    connections: {
      api,
      desk: { type: 'dummy', parameters: ['a,I', 'b,I', 'ticks,I,0'] },
      clock: { type: 'timer', timers: [0], pulses: [{ interval: 20 }] },
    },
    rules: [{ from: 'desk/a', map: 'value * 2', to: ['desk/b', 'clock/timer/1/start'] }],
  });
  const client = await openClient(t, hub.port, '?filter=^desk/&filter=timer');
  const pulses = await openClient(t, hub.port, '?filter=pulse');
  client.send({ p: 'desk/a', v: 1 });
  t.deepEqual(
    [await client.next(), await client.next(), await client.next(), await client.next()],
    [
      { p: 'desk/a', v: '1' },
      { p: 'desk/b', v: '2' },
      { p: 'clock/timer/1/start', v: '2' },
      { p: 'clock/timer/1/trigger', v: '1' },
    ],
  );
  for (let count = 0; count < 3; count++) t.deepEqual(await pulses.next(), { p: 'clock/pulse/1', v: '1' });
});

test('S-11: an equal value does not count as a change and is not sent, a trigger is sent each time', async (t) => {
  const hub = await startDesk(t, ['p,I,5', 'go,T']);
  const client = await openClient(t, hub.port);
  for (const [p, v] of [
    ['desk/p', 5],
    ['desk/go', 1],
    ['desk/go', 1],
    ['desk/p', 6],
    ['desk/p', '6.5'],
    ['desk/p', 5],
  ] as const)
    client.send({ p, v });
  const reported: Frame[] = [];
  for (let count = 0; count < 4; count++) reported.push(await client.next());
  t.deepEqual(reported, [
    { p: 'desk/go', v: '1' },
    { p: 'desk/go', v: '1' },
    { p: 'desk/p', v: '6' },
    { p: 'desk/p', v: '5' },
  ]);
});

for (const [query, isAsked] of [
  ['', false],
  ['?snapshot=false', false],
  ['?snapshot', false],
  ['?snapshot=true', true],
  ['?x=1&snapshot=1', true],
] as const)
  test(`D-06: /ws${query} sends ${isAsked ? 'all known values, oldest change first, and no trigger' : 'no snapshot'}`, async (t) => {
    const hub = await startDesk(t, ['a,I,1', 'b,B,true', 'unknown,F', 'go,T', 'c,S,']);
    hub.write('desk/go', 1, writer);
    hub.write('desk/a', 2, writer);
    const client = await openClient(t, hub.port, query);
    const got = isAsked ? await client.frames.until(({ v }) => v === '2') : [];
    hub.write('desk/a', 3, writer);
    got.push(...(await client.frames.until(({ v }) => v === '3')));
    const snapshot = [
      { p: 'desk/b', v: 'true' },
      { p: 'desk/c', v: '' },
      { p: 'desk/a', v: '2' },
    ];
    t.deepEqual(got, [...(isAsked ? snapshot : []), { p: 'desk/a', v: '3' }]);
  });

test('D-17: several clients that write at the same time all receive every change, in one order', async (t) => {
  const hub = await startDesk(t, ['a,I', 'b,I', 'c,I', 'end,I']);
  const clients = await Promise.all(Array.from({ length: 6 }, () => openClient(t, hub.port)));
  const each = 300;
  clients.slice(0, 3).forEach((client, index) => {
    for (let value = 1; value <= each; value++) client.send({ p: `desk/${'abc'[index]}`, v: value });
  });
  const heard = await Promise.all(
    clients.map(async ({ frames }) => {
      const all: string[] = [];
      while (all.length < 3 * each) {
        const { p, v } = await frames.next();
        all.push(`${p}=${v}`);
      }
      return all;
    }),
  );
  for (const one of heard) t.deepEqual(one, heard[0]);
  for (const name of ['a', 'b', 'c'])
    t.deepEqual(
      heard[0]!.filter((change) => change.startsWith(`desk/${name}=`)),
      Array.from({ length: each }, (_, index) => `desk/${name}=${index + 1}`),
    );
});

test('D-28: six hundred clients that come and go each receive every change while connected, in order', async (t) => {
  const hub = await startDesk(t, ['i,I']);
  const open = (count: number) => Promise.all(Array.from({ length: count }, () => openRawClient(t, hub.port)));
  const clients = await open(600);
  const changes = 20;
  for (let round = 0; round < 3; round++) {
    const first = round * changes;
    for (let value = first; value < first + changes; value++) hub.write('desk/i', value, writer);
    for (const client of clients)
      for (let value = first; value < first + changes; value++) {
        const reported = `${(await client.frames.next()).payload}`;
        if (reported !== `{"p":"desk/i","v":"${value}"}`) t.fail(`expected ${value}, got ${reported}`);
      }
    const leaving = clients.splice(round * 100, 200);
    for (const client of leaving) client.send(opcodes.close, '');
    await Promise.all(leaving.map((client) => client.closed()));
    clients.push(...(await open(150)));
  }
  t.is(clients.length, 450);
  expectQuietLog(t, hub);
});

test('S-10: every REST API connection sends the changes that arrive by any other', async (t) => {
  const hub = await startTestHub(t, {
    connections: { one: api, two: api, desk: { type: 'dummy', parameters: ['lamp,B', 'go,T'] } },
  });
  const [one = 0, two = 0] = portsOf(hub);
  t.not(one, two);
  const [ann, bob] = [await openClient(t, one), await openClient(t, two)];
  ann.send({ p: 'desk/lamp', v: true });
  bob.send({ p: 'desk/go', v: true });
  await ask(t, two, 'GET /update?parameter=desk/lamp&value=0');
  for (const client of [ann, bob]) {
    const heard = [await client.next(), await client.next(), await client.next()];
    t.deepEqual(
      heard.filter(({ p }) => p === 'desk/lamp').map(({ v }) => v),
      ['true', 'false'],
    );
    t.deepEqual(
      heard.filter(({ p }) => p === 'desk/go').map(({ v }) => v),
      ['1'],
    );
  }
});
