// What clients of patchbay.v1 send: writes, and every kind of mistake (docs/protocol.md "Writing", "Limits and close codes").

import test, { type ExecutionContext } from 'ava';
import { api, expectHits, expectQuietLog, startTestHub, writer } from '../../../../support/hub.ts';
import { opcodes } from '../../../../support/sockets/socket.ts';
import { openV1 } from '../../../../support/sockets/v1.ts';

const startDesk = (t: ExecutionContext) =>
  startTestHub(t, {
    connections: {
      api,
      desk: { type: 'dummy', parameters: ['lamp,B', 'level,F', 'count,I', 'go,T', 'a,I', 'b,I', 'ran,I'] },
      clock: { type: 'timer', timers: [1000], pulses: [{ enabled: false }] },
    },
    rules: [{ name: 'sum', from: { a: 'desk/a', b: 'desk/b' }, map: 'a * 10 + b', to: 'desk/ran' }],
  });

test('docs/protocol.md: set writes by address and by id, converts, and is acknowledged with its errors', async (t) => {
  const hub = await startDesk(t);
  const client = await openV1(t, hub.port);
  await client.subscribe({ sub: 1 });
  const id = [...client.picture.addresses].find(([, address]) => address === 'desk/level')![0];
  const fires: unknown[] = [];
  hub.changes$.subscribe(({ parameter, value }) => parameter.address === 'desk/go' && fires.push(value));
  client.send({
    set: [
      ['desk/lamp', '1'],
      [id, '0.5'],
      ['desk/go', 'x'],
      ['desk/x', 1],
      [99_999, 1],
      ['desk/count', 'y'],
      ['clock/pulse/1', 1],
    ],
    ack: 5,
  });
  const [answer] = (await client.until(({ ack }) => ack !== undefined)).slice(-1);
  t.is(answer!.ack, 5);
  t.deepEqual(answer!.errors!.slice(0, 2), [
    ['desk/x', 'unknown parameter'],
    [99_999, 'unknown parameter'],
  ]);
  t.deepEqual(
    answer!.errors!.slice(2).map(([address]) => address),
    ['desk/count', 'clock/pulse/1'],
  );
  t.regex(answer!.errors![3]![1], /read-only/);
  t.deepEqual([hub.find('desk/lamp')?.value, hub.find('desk/level')?.value, fires], [true, 0.5, [1]]);
  client.send({ set: [['desk/count', 1]] });
  client.send({ set: [['desk/x', 1]] });
  const rest = await client.until(({ errors, ack }) => errors !== undefined && ack === undefined);
  t.deepEqual(rest.at(-1), { errors: [['desk/x', 'unknown parameter']] });
  client.send({ set: [], ack: 0 });
  t.deepEqual((await client.until(({ ack }) => ack === 0)).at(-1), { ack: 0, errors: [] });
  expectQuietLog(t, hub);
});

test('docs/protocol.md: several parameters in one message are one turn: a rule of two sources runs once', async (t) => {
  const hub = await startDesk(t);
  const ran: unknown[] = [];
  hub.changes$.subscribe(({ parameter, value }) => parameter.address === 'desk/ran' && ran.push(value));
  const client = await openV1(t, hub.port);
  for (let round = 1; round <= 3; round++) {
    client.send({
      set: [
        ['desk/a', round],
        ['desk/b', round],
      ],
      ack: round,
    });
    await client.until(({ ack }) => ack === round);
  }
  t.deepEqual(ran, [11, 22, 33]);
});

const text = (data: unknown) => (typeof data === 'string' ? data : JSON.stringify(data));
const long = 'x'.repeat(1025);
const wrong: [what: string, message: unknown, error: RegExp, sub?: number | undefined, ack?: number][] = [
  ['no JSON', '{"set":', /^expected JSON, but it cannot be parsed: /],
  ['no object', '[1]', /^expected an object, got /],
  ['null', 'null', /^expected an object, got null/],
  ['no known key', { hallo: 1 }, /^expected a message with one of set, sub, unsub, ping, got /],
  ['set of no list', { set: 1 }, /^set: expected a list, got 1/],
  ['set of no pairs', { set: [['desk/lamp', true], ['desk/lamp']] }, /^set\[1\]: expected \[address, value\], got /],
  ['ack of text', { set: [], ack: 'x' }, /^ack: expected an integer, got "x"/],
  ['set with more', { set: [], what: 1 }, /^unknown key "what"/],
  ['sub of text', { sub: 'x' }, /^sub: expected an integer 0\.\.2147483647, got "x"/],
  ['sub below 0', { sub: -1 }, /^sub: expected an integer 0\.\.2147483647, got -1/, -1],
  ['sub of a fraction', { sub: 1.5 }, /^sub: expected an integer 0\.\.2147483647, got 1.5/, 1.5],
  [
    'an empty pattern',
    { sub: 3, include: [''] },
    /^include\[0\]: expected a pattern of 1 to 1024 characters, got "" \(string\)$/,
    3,
  ],
  ['a long pattern', { sub: 3, exclude: ['a', long] }, /^exclude\[1\]: expected .*1 to 1024 characters/, 3],
  ['a pattern of a number', { sub: 3, include: [1] }, /^include\[0\]: expected .*pattern.*, got 1/, 3],
  [
    'an empty regex',
    { sub: 3, include: ['a', { regex: '' }] },
    /^include\[1\]: expected .*, or .*, got \{"regex":""/,
    3,
  ],
  [
    'a regex and more',
    { sub: 3, exclude: [{ regex: 'a', b: 1 }] },
    /^exclude\[0\]: expected .*, or \{"regex":…\}, /,
    3,
  ],
  ['no list of patterns', { sub: 3, include: 'desk/**' }, /^include: expected list of patterns, got /, 3],
  ['many patterns', { sub: 3, include: Array(2049).fill('a') }, /: expected at most 2048 patterns, got 2049$/, 3],
  ['a long regex', { sub: 3, include: [{ regex: long }] }, /^include\[0\]\.regex: expected a pattern of 1 to 1024 /, 3],
  [
    'many patterns in two lists',
    { sub: 3, include: Array(1500).fill('a'), exclude: Array(549).fill('a') },
    /at most 2048 patterns/,
    3,
  ],
  ['many regexes', { sub: 3, include: Array(17).fill({ regex: 'a' }) }, /expected at most 16 regexes, got 17/, 3],
  ['a bad regex', { sub: 3, include: [{ regex: '(' }] }, /regex: expected a regular expression, got "\("/, 3],
  ['a look-behind', { sub: 3, include: [{ regex: '(?<=a)b' }] }, /regex: expected a regular expression/, 3],
  ['a negative rate', { sub: 3, rate: -1 }, /^rate: expected number of times per second, or 0, got -1/, 3],
  ['a rate of text', { sub: 3, rate: '60' }, /^rate: expected number of times per second/, 3],
  ['an unknown delivery', { sub: 3, delivery: 'some' }, /^delivery: expected "latest" or "all", got "some"/, 3],
  ['since without rev', { sub: 3, since: { epoch: 'x' } }, /^since\.rev: expected revision, got /, 3],
  ['since that is a number', { sub: 3, since: 1 }, /^since: expected {"epoch":…,"rev":…}, got 1 \(number\)$/, 3],
  ['sub with more', { sub: 3, inlcude: [] }, /^unknown key "inlcude"/, 3],
  ['unsub of none', { unsub: 7 }, /^unsub: unknown subscription 7/],
  ['ping of text', { ping: 'x' }, /^ping: expected number, got "x"/],
  ['a long message', `{"sub":3,"include":["${'a'.repeat(65_536)}"]}`, /^expected at most 65536 bytes, got /, 3],
  ['set of no list, with ack', { set: 1, ack: 5 }, /^set: expected a list, got 1/, undefined, 5],
  ['set of no pairs, with ack', { set: [1], ack: -7 }, /^set\[0\]: expected \[address, value\], got 1/, undefined, -7],
  ['set with more, with ack', { set: [], ack: 5, sub: 1 }, /^unknown key "sub"/, undefined, 5],
  [
    'a long set with ack',
    { set: [['desk/lamp', 'x'.repeat(65_536)]], ack: 5 },
    /^expected at most 65536/,
    undefined,
    5,
  ],
  ['ack without set', { ping: 'x', ack: 5 }, /^ping: expected number/],
  ['unsub with more', { unsub: 7, what: 1 }, /^unknown key "what"/],
  ['ping with more', { ping: 1, what: 1 }, /^unknown key "what"/],
];
for (const [what, message, error, sub, ack] of wrong)
  test(`docs/protocol.md: a mistake is answered, and changes nothing: ${what}`, async (t) => {
    const hub = await startDesk(t);
    const client = await openV1(t, hub.port);
    client.sendRaw(opcodes.text, text(message));
    const answer = await client.next();
    t.regex(answer.error ?? '', error);
    t.is(answer.sub, sub);
    t.is(answer.ack, ack);
    t.deepEqual(await client.sync(), [{ pong: 1 }]);
    hub.write('desk/lamp', true, writer);
    t.deepEqual(await client.sync(), [{ pong: 2 }]);
    expectQuietLog(t, hub);
  });

const beyond: [limit: string, include: unknown[]][] = [
  ['patternLength', [long]],
  ['patternLength', [{ regex: long }]],
  ['patterns', Array(2049).fill('a')],
  ['regexes', Array(17).fill({ regex: 'a' })],
  ['patternSteps', [{ regex: 'a{1000}' }]],
];
test('docs/protocol.md: a request above a limit is answered, and the log names the limit', async (t) => {
  for (const [limit, include] of beyond) {
    const hub = await startDesk(t);
    const client = await openV1(t, hub.port);
    client.send({ sub: 3, include });
    t.regex((await client.next()).error ?? '', /: expected .*, got /);
    const reported = hub.lines.flatMap(({ message }) => / exceeded the limit (\w+) /.exec(message)?.[1] ?? []);
    t.deepEqual(reported, [limit]);
  }
});

test('a list of thousands of wrong patterns is answered with the first, and takes little time', async (t) => {
  const hub = await startDesk(t);
  const client = await openV1(t, hub.port);
  let shortestMs = Number.POSITIVE_INFINITY; // the others waited for the machine
  for (let count = 0; count < 60; count++) {
    const before = performance.now();
    client.send({ sub: 3, include: Array(32_000).fill(1) });
    t.regex((await client.next()).error ?? '', /^include\[0\]: expected .*pattern.*, got 1/);
    shortestMs = Math.min(shortestMs, performance.now() - before);
  }
  t.true(shortestMs < 40, `${shortestMs} ms`);
});

test('docs/protocol.md: a binary frame is a mistake', async (t) => {
  const hub = await startDesk(t);
  const client = await openV1(t, hub.port);
  client.sendRaw(opcodes.binary, '{"ping":1}');
  t.regex((await client.next()).error ?? '', /^expected a text frame with JSON, got a binary frame$/);
});

test('docs/protocol.md: a mistake in a replacement leaves the subscription unchanged', async (t) => {
  const hub = await startDesk(t);
  const client = await openV1(t, hub.port);
  await client.subscribe({ sub: 1, include: ['desk/count'] });
  client.send({ sub: 1, include: [{ regex: '(' }] });
  t.truthy((await client.next()).error);
  hub.write('desk/count', 3, writer);
  await client.until(({ set }) => set !== undefined);
  t.is(client.picture.values.get('desk/count'), 3);
});

test('docs/protocol.md: there are at most 32 subscriptions, and each may be replaced', async (t) => {
  const hub = await startDesk(t);
  const client = await openV1(t, hub.port);
  for (let sub = 0; sub < 32; sub++) await client.subscribe({ sub, include: ['desk/lamp'] });
  client.send({ sub: 32 });
  t.like(await client.next(), { sub: 32, error: 'sub: expected at most 32 subscriptions, got 33' });
  t.is((await client.subscribe({ sub: 31, include: ['desk/count'] })).at(-1)?.end, 31);
});

test('docs/protocol.md: 100 invalid messages in a row end the socket with 4500, 99 do not', async (t) => {
  const hub = await startDesk(t);
  const client = await openV1(t, hub.port);
  const bystander = await openV1(t, hub.port);
  for (let round = 0; round < 2; round++) {
    for (let count = 0; count < 99; count++) client.send({ no: count });
    await client.sync();
  }
  for (let count = 0; count < 300; count++) client.send({ no: count });
  client.send({ set: [['desk/count', 1]] });
  t.is(await client.closed(), 4500);
  await bystander.subscribe({ sub: 1 });
  hub.write('desk/count', 2, writer);
  await bystander.until(({ set }) => set?.some(([, value]) => value === 2) ?? false);
  expectHits(t, hub, ['mistakes']);
});

test('docs/protocol.md: a hub that stops says goodbye and closes with 1001', async (t) => {
  const hub = await startDesk(t);
  const clients = await Promise.all([openV1(t, hub.port), openV1(t, hub.port)]);
  await clients[0]!.subscribe({ sub: 1, delivery: 'all', rate: 1 });
  hub.write('desk/count', 1, writer);
  hub.write('desk/count', 2, writer);
  await hub.stop();
  for (const client of clients) {
    const messages = await client.until(({ bye }) => bye !== undefined);
    t.deepEqual(messages.at(-1), { bye: { code: 1001, reason: 'the hub is shutting down', retry: true } });
    t.is(await client.closed(), 1001);
  }
  expectQuietLog(t, hub);
});
