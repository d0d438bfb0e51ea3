// The protocol in both its forms: asyncapi.json is a valid AsyncAPI document, and README.md says the same.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { Ajv } from 'ajv';
import test from 'ava';
import { api } from '../support/hub.ts';
import { Inbox } from '../support/inbox.ts';
import { startReloading } from '../support/reload.ts';
import { asyncApi, fits, kindOf, kinds } from '../support/sockets/asyncapi.ts';

const readme = await readFile(resolve(import.meta.dirname, '../../lib/client/README.md'), 'utf8');
const protocol = readme.slice(readme.indexOf('`patchbay.v1` protocol'));

test('the document is one of AsyncAPI 3.1', (t) => {
  const schema = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.1.0.json');
  const validate = new Ajv({ strict: false, validateFormats: false, meta: false, validateSchema: false }).compile(
    schema,
  );
  t.true(validate(asyncApi), JSON.stringify(validate.errors?.slice(0, 5)));
  t.false(validate({ ...asyncApi, channels: { socket: { address: 1 } } }), 'the schema finds mistakes');
});

test('every example of the document is of its kind', (t) => {
  for (const direction of ['tell', 'hear'] as const)
    for (const kind of kinds(direction)) {
      const { examples } = asyncApi.components.messages[kind];
      t.true(examples.length > 0, kind);
      for (const { payload } of examples) t.is(kindOf(direction, payload), kind);
    }
});

test('messages that are wrong are of no kind', (t) => {
  const wrong: readonly (readonly ['tell' | 'hear', object])[] = [
    ['tell', { set: [[7]], rev: 1 }],
    ['tell', { set: [[7, null]], rev: 1 }],
    ['tell', { set: [[7, true]], rev: '1' }],
    ['tell', { def: [[7, 'desk/lamp', 'X', 'rw']] }],
    ['tell', { end: 1, rev: 1.5 }],
    ['tell', { lost: { lamp: 1 } }],
    ['tell', { stale: [7] }],
    ['tell', { fresh: [] }],
    ['tell', { hello: { epoch: '' } }],
    ['tell', { pong: 1, more: 2 }],
    ['hear', { sub: -1 }],
    ['hear', { sub: 1, rate: 0.01 }],
    ['hear', { sub: 1, include: [''] }],
    ['hear', { set: [['desk/lamp', {}]] }],
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
    const found = (['tell', 'hear'] as const).flatMap((direction) => {
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
  const all = (['tell', 'hear'] as const).flatMap((direction) =>
    kinds(direction).map((kind) => `${direction} ${kind}`),
  );
  t.deepEqual([...shown].sort(), all.sort());
});

test('a real hub tells every kind of message but losses and what is stale, and hears every kind', async (t) => {
  const flow = (...parameters: string[]) => ({ connections: { api, desk: { type: 'dummy', parameters } } });
  const { hub, reload } = await startReloading(t, { 'flow.json5': flow('lamp,B,true', 'go,T') });
  const socket = new WebSocket(`ws://127.0.0.1:${hub.port}/ws`, 'patchbay.v1');
  t.teardown(() => socket.close());
  const inbox = new Inbox<string>();
  socket.addEventListener('message', ({ data }) => inbox.put(kindOf('tell', JSON.parse(data))));
  const told = new Set<string>();
  const upTo = async (kind: string) => {
    for (const one of await inbox.until((one) => one === kind, kind)) told.add(one);
  };
  const heard = new Set<string>();
  const send = (message: object) => {
    heard.add(kindOf('hear', message));
    socket.send(JSON.stringify(message));
  };
  await upTo('hello');
  send({ sub: 1, include: ['desk/*'], rate: 0, delivery: 'all' });
  await upTo('complete');
  send({ set: [['desk/go', 1]], ack: 1 });
  await upTo('acknowledgement');
  if (!told.has('fires')) await upTo('fires');
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
  t.deepEqual([...told, 'losses', 'stale', 'fresh'].sort(), kinds('tell').sort());
  t.deepEqual([...heard].sort(), kinds('hear').sort());
});
