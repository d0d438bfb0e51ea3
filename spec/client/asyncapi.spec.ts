// The protocol in both its forms: asyncapi.json is a valid AsyncAPI document, and docs/protocol.md says the same.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { Ajv } from 'ajv';
import test from 'ava';
import fc from 'fast-check';
import { api } from '../support/hub.ts';
import { Inbox } from '../support/inbox.ts';
import { startReloading } from '../support/reload.ts';
import { asyncApi, fits, kindOf, kinds } from '../support/sockets/asyncapi.ts';

const protocol = await readFile(resolve(import.meta.dirname, '../../docs/protocol.md'), 'utf8');

test('the document is one of AsyncAPI 3.1', (t) => {
  const schema = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.1.0.json');
  const validate = new Ajv({ strict: false, validateFormats: false, meta: false, validateSchema: false }).compile(
    schema,
  );
  t.true(validate(asyncApi), JSON.stringify(validate.errors?.slice(0, 5)));
  t.false(validate({ ...asyncApi, channels: { socket: { address: 1 } } }), 'the schema finds mistakes');
});

test('every example of the document is of its kind', (t) => {
  for (const direction of ['send', 'receive'] as const)
    for (const kind of kinds(direction)) {
      const { examples } = asyncApi.components.messages[kind];
      t.true(examples.length > 0, kind);
      for (const { payload } of examples) t.is(kindOf(direction, payload), kind);
    }
});

test('invalid messages are of no kind', (t) => {
  const wrong: readonly (readonly ['send' | 'receive', object])[] = [
    ['send', { set: [[7]], rev: 1 }],
    ['send', { set: [[7, null]], rev: 1 }],
    ['send', { set: [[7, true]], rev: '1' }],
    ['send', { def: [[7, 'desk/lamp', 'X', 'rw']] }],
    ['send', { end: 1, rev: 1.5 }],
    ['send', { lost: { lamp: 1 } }],
    ['send', { stale: [7] }],
    ['send', { fresh: [] }],
    ['send', { hello: { epoch: '' } }],
    ['send', { pong: 1, more: 2 }],
    ['receive', { sub: -1 }],
    ['receive', { sub: 1, rate: -1 }],
    ['receive', { sub: 1, include: [''] }],
    ['receive', { set: [['desk/lamp', {}]] }],
  ];
  for (const [direction, message] of wrong)
    t.throws(() => kindOf(direction, message), undefined, JSON.stringify(message));
});

test('every message that README.md shows is in the document, and every kind of message is shown', (t) => {
  const spans = [...protocol.matchAll(/```json\n([\s\S]*?)```|`(\{[^`\n]*)`/g)].map(
    ([, block, span]) => block ?? span!,
  );
  const shown = new Set<string>();
  const unread: string[] = [];
  for (const span of spans) {
    let message: object;
    try {
      message = JSON.parse(span.replaceAll(/,…|(?<=\[)…/g, ''));
    } catch {
      unread.push(span);
      continue;
    }
    if (fits('components/schemas/pattern', message)) continue;
    const found = (['send', 'receive'] as const).flatMap((direction) => {
      try {
        return [`${direction} ${kindOf(direction, message)}`];
      } catch {
        return [];
      }
    });
    t.not(found.length, 0, span);
    for (const one of found) shown.add(one);
  }
  t.deepEqual(unread, ['{"epoch":…,"rev":…}']);
  const all = (['send', 'receive'] as const).flatMap((direction) =>
    kinds(direction).map((kind) => `${direction} ${kind}`),
  );
  t.deepEqual([...shown].sort(), all.sort());
});

test('a real hub sends every kind of message but losses, staleness and what devices have, and takes every kind', async (t) => {
  const flow = (...parameters: string[]) => ({ connections: { api, desk: { type: 'dummy', parameters } } });
  const { hub, reload } = await startReloading(t, { 'flow.json5': flow('lamp,B,true', 'go,T') });
  const socket = new WebSocket(`ws://127.0.0.1:${hub.port}/ws`, 'patchbay.v1');
  t.teardown(() => socket.close());
  const inbox = new Inbox<string>();
  socket.addEventListener('message', ({ data }) => inbox.put(kindOf('send', JSON.parse(data))));
  const reported = new Set<string>();
  const upTo = async (kind: string) => {
    for (const one of await inbox.until((one) => one === kind, kind)) reported.add(one);
  };
  const heard = new Set<string>();
  const send = (message: object) => {
    heard.add(kindOf('receive', message));
    socket.send(JSON.stringify(message));
  };
  await upTo('hello');
  send({ sub: 1, include: ['desk/*'], rate: 0, delivery: 'all' });
  await upTo('complete');
  send({ set: [['desk/go', 1]], ack: 1 });
  await upTo('acknowledgement');
  if (!reported.has('fires')) await upTo('fires');
  send({ set: [['desk/nope', 1]] });
  await upTo('mistakes');
  send({ ping: 7 });
  await upTo('pong');
  socket.send('{');
  await upTo('error');
  await reload('flow.json5', flow('go,T', 'level,F,1'));
  await upTo('removals');
  send({ unsub: 1 });
  await upTo('unsubscribed');
  await Promise.all([hub.stop(), upTo('goodbye')]);
  t.deepEqual([...reported, 'losses', 'stale', 'fresh', 'pending', 'metadata'].sort(), kinds('send').sort());
  t.deepEqual([...heard].sort(), kinds('receive').sort());
});

/** Messages at the bounds of what is right, on both sides of them. */
const atBounds: readonly unknown[] = [
  ...[0, 1, 2147483647, -0].map((sub) => ({ sub })),
  ...[-1, 2147483648, 1.5, '1', null, true, [1]].map((sub) => ({ sub })),
  ...[0, 0.001, 0.1, 0.05, 60, 999.9, 1000, 1001, 1e308].map((rate) => ({ sub: 1, rate })),
  ...[-0.1, -1, '60', null, []].map((rate) => ({ sub: 1, rate })),
  ...['latest', 'all'].map((delivery) => ({ sub: 1, delivery })),
  ...['Latest', '', null, 1].map((delivery) => ({ sub: 1, delivery })),
  ...[
    [],
    ['a'],
    ['a'.repeat(1024)],
    ['\u{1f600}'.repeat(1024)],
    [{ regex: 'a' }],
    [{ regex: '\u{1f600}'.repeat(600) }],
  ].map((include) => ({ sub: 1, include })),
  ...[
    [''],
    ['a'.repeat(1025)],
    [{ regex: '' }],
    [{ regex: 'a', flags: 'i' }],
    [{}],
    [1],
    [null],
    [['a']],
    'a',
    null,
    {},
  ].map((include) => ({ sub: 1, include })),
  { sub: 1, exclude: ['a'] },
  { sub: 1, exclude: [''] },
  ...[
    { epoch: 'x', rev: 0 },
    { epoch: '', rev: 1 },
    { epoch: 'x', rev: Number.MAX_SAFE_INTEGER },
  ].map((since) => ({ sub: 1, since })),
  ...[
    { epoch: 'x', rev: -1 },
    { epoch: 'x', rev: 1.5 },
    { epoch: 'x', rev: 2 ** 53 },
    { epoch: 1, rev: 1 },
    { epoch: 'x' },
    { rev: 1 },
    { epoch: 'x', rev: 1, more: 1 },
    null,
    'x',
  ].map((since) => ({ sub: 1, since })),
  ...[0, 7, -7, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER].map((ack) => ({ set: [['desk/lamp', true]], ack })),
  ...[1.5, 2 ** 53, -(2 ** 53), '5', null, true, []].map((ack) => ({ set: [['desk/lamp', true]], ack })),
  ...[[], [['desk/lamp', false]], [['desk/level', -1.5]], [['desk/text', 'x']], [['desk/go', 'x']], [[0, 1]]].map(
    (set) => ({
      set,
      ack: 1,
    }),
  ),
  ...[
    null,
    {},
    'x',
    1,
    ['desk/lamp', true],
    [[]],
    [['desk/lamp']],
    [['desk/lamp', 1, 2]],
    [[null, 1]],
    [[true, 1]],
    [[{}, 1]],
  ].map((set) => ({ set })),
  ...[null, {}, [], [1]].map((value) => ({ set: [['desk/text', value]], ack: 1 })),
  { set: [['desk/lamp', true]], traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
  { set: [['desk/lamp', true]], traceparent: 'x' },
  { set: [['desk/lamp', true]], traceparent: 5 },
  ...[0, 1, -1, 1.5, 1e300, 2 ** 53, -0].map((ping) => ({ ping })),
  ...['1', null, [], {}, true].map((ping) => ({ ping })),
  { unsub: 4 },
  ...[-1, 1.5, '1', null].map((unsub) => ({ unsub })),
  // keys that are not known, and several kinds in one
  { sub: 1, more: 1 },
  { sub: 1, Rate: 1 },
  { set: [], more: 1 },
  { ping: 1, ack: 1 },
  { unsub: 1, rate: 1 },
  { sub: 1, ping: 1 },
  { set: [], sub: 1 },
  { more: 1 },
  {},
];

/** What a message comes to: the answers up to that to a ping behind it. */
async function answersTo(socket: WebSocket, inbox: Inbox<object>, message: unknown, n: number): Promise<object[]> {
  socket.send(JSON.stringify(message));
  socket.send(JSON.stringify({ ping: n }));
  const answers = await inbox.until((one) => 'pong' in one && one.pong === n, JSON.stringify(message));
  return [...answers].slice(0, -1);
}

test('the hub accepts exactly the client messages of the document, and answers as documented', async (t) => {
  const flow = {
    connections: { api, desk: { type: 'dummy', parameters: ['lamp,B,true', 'level,F', 'text,S', 'go,T'] } },
  };
  const { hub } = await startReloading(t, { 'flow.json5': flow });
  const inbox = new Inbox<object>();
  const socket = new WebSocket(`ws://127.0.0.1:${hub.port}/ws`, 'patchbay.v1');
  t.teardown(() => socket.close());
  socket.addEventListener('message', ({ data }) => inbox.put(JSON.parse(data)));
  await inbox.until((one) => 'hello' in one, 'hello');
  let n = 1_000_000;
  let wrong = 0;
  const judge = async (message: unknown) => {
    const isRight =
      kinds('receive').filter((kind) => fits(`components/messages/${kind}/payload`, message)).length === 1;
    if ((message as { unsub?: number }).unsub === 4) await answersTo(socket, inbox, { sub: 4 }, ++n);
    const answers = await answersTo(socket, inbox, message, ++n);
    for (const answer of answers) t.notThrows(() => kindOf('send', answer), JSON.stringify(answer));
    const unknown = /unknown parameter/;
    const refused = answers.filter(
      (answer) =>
        'error' in answer ||
        ('errors' in answer && (answer.errors as string[][]).some(([, why]) => !unknown.test(why!))),
    );
    t.is(refused.length > 0, !isRight, `${JSON.stringify(message)}: ${JSON.stringify(answers)}`);
    if (!isRight) wrong++;
    if (wrong % 50 === 0) await answersTo(socket, inbox, { set: [] }, ++n); // a hundred in a row end the socket
  };
  for (const message of atBounds) await judge(message);
  const odd = fc.oneof(
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom<unknown>(null, true, 'a', [], {}, ['a'], [['desk/lamp', 1]]),
  );
  const keys = ['sub', 'unsub', 'set', 'ping', 'include', 'rate', 'delivery', 'since', 'ack', 'more'];
  const any = fc.dictionary(fc.constantFrom(...keys), odd, { maxKeys: 3 });
  for (const message of fc.sample(any, { numRuns: 300, seed: 7 })) {
    if ('unsub' in message && Object.keys(message).length === 1) continue; // whether there is one decides
    await judge(message);
  }
  t.true(wrong > 100);
});
