// Lists of changes on the plain socket, `/ws?list=true` (D-43): the same changes as without, in the same order, and the same checks.

import { inspect } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { held } from '../../../../../lib/model/held-bytes.ts';
import { api, expectQuietLog, startTestHub, writer } from '../../../../support/hub.ts';
import { Inbox } from '../../../../support/inbox.ts';
import { readReadme } from '../../../../support/repository/readme.ts';
import { fits } from '../../../../support/sockets/asyncapi.ts';
import {
  type Client,
  type Frame,
  opcodes,
  openClient,
  openRawClient,
  type RawClient,
} from '../../../../support/sockets/socket.ts';

const listBytes = 64 * 1024;
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`);

const startDesk = (t: ExecutionContext, parameters: string[], rules: object[] = [], settings: object = {}) =>
  startTestHub(t, { connections: { api: { ...api, ...settings }, desk: { type: 'dummy', parameters } }, rules });

/** The next frame that is text, and how long it is: a list, or the answer to a mistake. */
async function nextText({ frames }: RawClient): Promise<{ readonly bytes: number; readonly data: unknown }> {
  for (;;) {
    const { opcode, payload } = await frames.next('a frame');
    if (opcode === opcodes.text) return { bytes: payload.length, data: JSON.parse(payload.toString()) };
  }
}

/** Reads lists until one ends with this value; returns their items, and how long each list was. */
async function readUntil(client: RawClient, address: string, value: string): Promise<[Frame[], lengths: number[]]> {
  const reported: Frame[] = [];
  const lengths: number[] = [];
  do {
    const { bytes, data } = await nextText(client);
    reported.push(...(data as Frame[]));
    lengths.push(bytes);
  } while (!(reported.at(-1)?.p === address && reported.at(-1)?.v === value));
  return [reported, lengths];
}

/** The items of the next lists, until there are so many: what a client sends on a busy machine may be written in several rounds. */
async function nextItems(client: Client, count: number): Promise<Frame[]> {
  const items: Frame[] = [];
  while (items.length < count) {
    const list: unknown = await client.next();
    if (!Array.isArray(list)) throw new Error(`expected a list, got ${JSON.stringify(list)}`);
    items.push(...list);
  }
  return items;
}

for (const query of ['?list=true', '?list=1&filter=^desk/', '?filter=desk&list=true&filter=nothing'])
  test(`D-43: ${query} sends what a round has brought in one list, in order, and merges nothing`, async (t) => {
    const hub = await startDesk(t, ['a,I', 'b,I', 's', 'go,T'], [{ from: 'desk/a', map: 'value * 2', to: 'desk/b' }]);
    const [lists, frames] = [await openRawClient(t, hub.port, query), await openClient(t, hub.port)];
    for (const value of [1, 2, 1]) hub.write('desk/a', value, writer);
    hub.write('desk/go', 1, writer);
    hub.write('desk/go', 1, writer);
    hub.write('desk/s', 'ü "🎚"', writer);
    const reported = [
      ...[1, 2, 1].flatMap((value) => [
        { p: 'desk/a', v: String(value) },
        { p: 'desk/b', v: String(value * 2) },
      ]),
      { p: 'desk/go', v: '1' },
      { p: 'desk/go', v: '1' },
      { p: 'desk/s', v: 'ü "🎚"' },
    ];
    t.deepEqual((await nextText(lists)).data, reported);
    for (const one of reported) t.deepEqual(await frames.next(), one);
    hub.write('desk/b', 7, writer);
    t.deepEqual((await nextText(lists)).data, [{ p: 'desk/b', v: '7' }]);
  });

test('D-43: a list has the changes that pass the filter of its client, and other filters have their own lists', async (t) => {
  const hub = await startDesk(t, ['a,I', 'b,I', 'c,I']);
  const filters = ['a$', 'b$', '[ab]$'];
  const clients = await Promise.all(filters.map((one) => openRawClient(t, hub.port, `?list=true&filter=${one}`)));
  for (const value of [1, 2]) for (const name of ['a', 'b', 'c']) hub.write(`desk/${name}`, value, writer);
  for (const [index, names] of [['a'], ['b'], ['a', 'b']].entries())
    t.deepEqual(
      (await nextText(clients[index]!)).data,
      ['1', '2'].flatMap((v) => names.map((name) => ({ p: `desk/${name}`, v }))),
    );
});

test('D-43: the example of README.md for Node.js sets values by a list, and shows the messages of the hub', async (t) => {
  const hub = await startDesk(t, ['level,F,0', 'mic-open,B', 'other,S']);
  const [code] = /(?<=```js\n)\/\/ Node\.js[\s\S]*?(?=```)/.exec(readReadme('docs/api.md')) ?? [];
  const shown = new Inbox<string>();
  const show = { log: (p: string, v: string) => shown.put(`${p} ${v}`), error: (p: string) => shown.put(p) };
  const sockets: WebSocket[] = [];
  class OfHub extends WebSocket {
    constructor(url: string) {
      super(url.replace('17011', String(hub.port)));
      sockets.push(this);
    }
  }
  t.teardown(() => sockets[0]?.close());
  new Function('WebSocket', 'console', code!)(OfHub, show);
  for (const line of ['desk/level 0', 'desk/level 0.5', 'desk/mic-open true']) t.is(await shown.next(line), line);
});

test('D-43: only true and 1 request lists, and without lists a list is no message', async (t) => {
  const hub = await startDesk(t, ['i,I']);
  for (const query of ['', '?list=false', '?list=', '?lists=true', '?list=TRUE']) {
    const client = await openClient(t, hub.port, query);
    client.send('[{"p":"desk/i","v":1}]');
    t.regex((await client.next()).error ?? '', /^expected an object \{"p":…,"v":…\}, got \[.*\(array\)$/);
  }
  t.is(hub.revision, 0);
});

test('D-43: with a snapshot all known values come first, as lists', async (t) => {
  const names = numbered(3000);
  const hub = await startDesk(t, [...names, 'unknown,I', 'go,T', 'mark,I']);
  for (const name of names) hub.write(`desk/${name}`, `of ${name}`, writer);
  hub.write('desk/mark', 1, writer);
  const client = await openRawClient(t, hub.port, '?list=true&snapshot=true');
  const [reported, lengths] = await readUntil(client, 'desk/mark', '1');
  t.deepEqual(
    reported.slice(0, -1),
    names.map((name) => ({ p: `desk/${name}`, v: `of ${name}` })),
  );
  t.true(lengths.length < 300, `${lengths.length} lists`);
  for (const length of lengths) t.true(length <= listBytes);
  hub.write('desk/mark', 2, writer);
  t.deepEqual((await nextText(client)).data, [{ p: 'desk/mark', v: '2' }]);
});

for (const [what, value] of [
  ['texts', (index: number) => `${index} ${'x'.repeat(index % 200)}`],
  ['texts of three bytes a character', (index: number) => `${index} ${'€'.repeat(index % 200)}`],
  ['long texts', (index: number) => `${index} ${'x'.repeat(index % 7 === 0 ? 65_530 : 7000)}`],
] as const)
  test(`D-43: many ${what} are spread over lists of at most 64 KiB each, and a longer one has its own list`, async (t) => {
    const names = numbered(60);
    const hub = await startDesk(t, [...names, 'mark,I']);
    const client = await openRawClient(t, hub.port, '?list=true');
    const expected: Frame[] = [];
    for (let index = 0; index < 1200; index += 60) {
      for (const [at, name] of names.slice(0, what === 'long texts' ? 9 : 60).entries()) {
        hub.write(`desk/${name}`, value(index + at), writer);
        expected.push({ p: `desk/${name}`, v: value(index + at) });
      }
      hub.write('desk/mark', index, writer);
      expected.push({ p: 'desk/mark', v: String(index) });
      const [reported, lengths] = await readUntil(client, 'desk/mark', String(index));
      t.deepEqual(reported, expected.splice(0));
      for (const [at, length] of lengths.entries())
        if (length > listBytes) t.true(what === 'long texts' && length < 66_000, `list ${at} of ${length} bytes`);
    }
  });

test('D-43: a list of a client is written in order; single messages are accepted as well', async (t) => {
  const hub = await startDesk(t, ['i,I', 's', 'b,B', 'go,T'], [{ from: 'desk/go', map: "'gone'", to: 'desk/s' }]);
  const [sender, other] = [await openClient(t, hub.port, '?list=true'), await openClient(t, hub.port)];
  sender.send(' \n[{"p":"desk/i","v":1},{"p":"desk/i","v":"2"} , {"v":"on air","p":"desk/s"},{"p":"desk/b","v":1}]');
  sender.send([]);
  sender.send({ p: 'desk/i', v: 3 });
  sender.send([
    { p: 'desk/go', v: null },
    { p: 'desk/go', v: '' },
  ]);
  const reported = ['i=1', 'i=2', 's=on air', 'b=true', 'i=3', 'go=1', 's=gone'];
  for (const one of reported) {
    const [name, v] = one.split('=');
    t.deepEqual(await other.next(), { p: `desk/${name}`, v: v! });
  }
  expectQuietLog(t, hub);
});

const items: [item: string, error: RegExp, p?: string][] = [
  ['1', /^expected an object \{"p":…,"v":…\}, got 1 \(number\)$/],
  ['null', /^expected an object .*, got null$/],
  ['[{"p":"desk/i","v":1}]', /^expected an object .*\(array\)$/],
  ['"desk/i"', /^expected an object .*, got "desk\/i" \(string\)$/],
  ['{}', /^p: expected an address, got nothing$/],
  ['{"p":1,"v":1}', /^p: expected an address, got 1 \(number\)$/],
  ['{"p":"desk/i"}', /^v: expected a value, got nothing$/, 'desk/i'],
  ['{"p":"desk/i","v":null}', /^expected a number, got null$/, 'desk/i'],
  ['{"p":"desk/i","v":"loud"}', /^expected a number, got "loud" \(string\)$/, 'desk/i'],
  ['{"p":"desk/x","v":1}', /^desk\/x: no parameter has this address/, 'desk/x'],
  ['{"p":"constructor","v":1}', /^constructor: no parameter has this address/, 'constructor'],
  ['{"p":"clock/pulse/1","v":1}', /^clock\/pulse\/1: expected a writable parameter/, 'clock/pulse/1'],
];
test('D-43, D-26: invalid items are answered one by one, and do not prevent the others', async (t) => {
  const hub = await startTestHub(t, {
    connections: {
      api,
      desk: { type: 'dummy', parameters: ['i,I'] },
      clock: { type: 'timer', pulses: [{ enabled: false }] },
    },
  });
  const [ann, bob] = [await openClient(t, hub.port, '?list=true'), await openClient(t, hub.port)];
  ann.send(`[${items.map(([item], index) => `{"p":"desk/i","v":${index}},${item}`).join()}]`);
  const answers: Frame[] = [];
  const reported: Frame[] = [];
  while (answers.length < items.length || reported.length < items.length) {
    const frame: Frame | readonly Frame[] = await ann.next();
    if (Array.isArray(frame)) reported.push(...frame);
    else answers.push(frame);
  }
  for (const [index, [item, error, p]] of items.entries()) {
    t.regex(answers[index]?.error ?? '', error, item);
    t.is(answers[index]?.p, p, item);
  }
  t.deepEqual(
    reported,
    items.map((_, index) => ({ p: 'desk/i', v: String(index) })),
  );
  for (const index of items.keys()) t.deepEqual(await bob.next(), { p: 'desk/i', v: String(index) });
  expectQuietLog(t, hub);
});

for (const payload of [[{ p: 'desk/i', v: '1' }], Array.from({ length: 4096 }, () => ({ p: 'desk/i', v: '' }))])
  test(`D-43: AsyncAPI knows lists of ${payload.length}, and what their items are`, (t) => {
    t.true(fits('components/messages/list/payload', payload));
    t.true(fits('components/messages/writes/payload', payload));
    t.false(fits('components/messages/list/payload', [...payload, { p: 'desk/i', v: 1 }]));
    t.true(fits('components/messages/writes/payload', [{ p: 'desk/i', v: 1 }]));
    t.true(fits('components/messages/refusal/payload', { error: 'expected a number, got null', p: 'desk/i' }));
    t.true(fits('components/messages/notification/payload', payload[0]));
    t.false(fits('components/messages/notification/payload', payload));
  });

const mistakes: [message: string | Uint8Array, error: RegExp][] = [
  ['[', /^expected JSON \[\{"p":…,"v":…\}, …\], but it cannot be parsed: /],
  ['[{"p":"desk/i","v":1},]', /^expected JSON \[/],
  ['[{"p":"desk/i","v":1}] [', /^expected JSON \[/],
  ['hello', /^expected JSON \{"p":…,"v":…\}, but it cannot be parsed: /],
  ['5', /^expected an object \{"p":…,"v":…\}, got 5 \(number\)$/],
  [Buffer.from('[{"p":"desk/i","v":1}]'), /^expected a text frame .*, got a binary frame$/],
  [`[{"p":"desk/i","v":1}]${' '.repeat(65_536)}`, /^expected at most 65536 bytes, got 65558$/],
  [`[{"p":"desk/i","v":1}${',0'.repeat(4096)}]`, /^expected at most 4096 items, got 4097$/],
];
for (const [message, error] of mistakes)
  test(`D-43, D-26: the bad list ${inspect(message).slice(0, 50)} is answered once, and not written at all`, async (t) => {
    const hub = await startDesk(t, ['i,I']);
    const client = await openClient(t, hub.port, '?list=true');
    client.send(message);
    const answer = await client.next();
    t.regex(answer.error ?? '', error);
    t.is(answer.p, undefined);
    t.is(hub.revision, 0);
    client.send([{ p: 'desk/i', v: 8 }]);
    t.deepEqual(await client.next(), [{ p: 'desk/i', v: '8' }] as unknown as Frame);
  });

test('D-43: the items of a list are written immediately, and each counts as a write for the limits of a client', async (t) => {
  const hub = await startDesk(t, ['i,I'], [], { limits: { writesPerClient: 5 } });
  const client = await openClient(t, hub.port, '?list=true');
  client.send(Array.from({ length: 800 }, (_, index) => ({ p: 'desk/i', v: index + 1 })));
  t.is((await nextItems(client, 800)).length, 800);
  client.send([
    { p: 'desk/i', v: -1 },
    { p: 'desk/i', v: -2 },
  ]);
  client.send({ p: 'desk/i', v: -3 });
  for (let refused = 0; refused < 3; refused++) {
    const { error, p } = await client.next();
    t.regex(error ?? '', /^expected at most 5 writes per second from this client/);
    t.is(p, 'desk/i');
  }
  t.is(hub.find('desk/i')?.value, 800);
  expectQuietLog(t, hub);
});

test('D-43: others are served while a long list is written, and the list is complete even if its client leaves', async (t) => {
  const hub = await startDesk(t, ['i,I', 'mark,I', 'other,I']);
  await Promise.all(Array.from({ length: 100 }, () => openRawClient(t, hub.port)));
  const [sender, other] = [await openClient(t, hub.port, '?list=true&filter=^$'), await openClient(t, hub.port)];
  const items = Array.from({ length: 2000 }, (_, index) => ({ p: 'desk/i', v: index + 1 }));
  sender.send([...items, { p: 'desk/mark', v: 1 }]);
  sender.close();
  other.send({ p: 'desk/other', v: 1 });
  const reported = await other.frames.until(({ p }) => p === 'desk/mark');
  const place = reported.findIndex(({ p }) => p === 'desk/other');
  t.true(place >= 0 && place < 1900, `after ${place} items`);
  t.deepEqual(
    reported.filter(({ p }) => p === 'desk/i').map(({ v }) => Number(v)),
    items.map(({ v }) => v),
  );
});

test('D-43, D-28: a client of lists that stops reading costs a limited amount, gets the newest values, and is live again', async (t) => {
  const names = numbered(100);
  const hub = await startDesk(t, [...names, 'mark,I']);
  const stalled = await openRawClient(t, hub.port, '?list=true');
  const reader = await openRawClient(t, hub.port, '?list=true');
  const padding = 'x'.repeat(10_000);
  stalled.pause();
  let count = 0;
  while (count < 1600) {
    for (let end = count + 50; count < end; count++) hub.write(`desk/p${count % 100}`, `${count} ${padding}`, writer);
    hub.write('desk/mark', count, writer);
    const [reported] = await readUntil(reader, 'desk/mark', String(count));
    t.is(reported.length, 51);
  }
  t.true(hub.lines.some(({ message }) => message.startsWith('client 127.0.0.1 exceeded the limit unreadBytes ')));
  stalled.resume();
  const [reported] = await readUntil(stalled, 'desk/mark', String(count));
  const last = new Map<string, number>();
  for (const { p, v } of reported) {
    const value = Number.parseInt(v!, 10);
    if (value < (last.get(p!) ?? -1)) t.fail(`${p}: ${value} was told after ${last.get(p!)}`);
    last.set(p!, value);
  }
  for (const name of names)
    t.is(last.get(`desk/${name}`), Number.parseInt(String(hub.find(`desk/${name}`)?.value), 10));
  t.true(reported.length < 1600, `${reported.length} of 1,632 changes were kept for one client`);
  for (let live = 0; live < 300; live++) hub.write('desk/p7', `${count + live} live`, writer);
  hub.write('desk/mark', -1, writer);
  t.is((await readUntil(stalled, 'desk/mark', '-1'))[0].length, 301);
});

test.serial('D-43: a waiting list counts among the held bytes of its client, until it is written', async (t) => {
  const hub = await startDesk(t, ['i,I', 'mark,I']);
  await Promise.all(Array.from({ length: 100 }, () => openRawClient(t, hub.port)));
  const [sender, other] = [await openClient(t, hub.port, '?list=true&filter=^$'), await openClient(t, hub.port)];
  const heldFor = () => held.bytesOf('127.0.0.1', 'messages');
  const before = heldFor();
  let most = 0;
  const seen = other.frames.until(({ p }) => {
    most = Math.max(most, heldFor());
    return p === 'desk/mark';
  });
  sender.send([...Array.from({ length: 2000 }, (_, v) => ({ p: 'desk/i', v: v + 1 })), { p: 'desk/mark', v: 1 }]);
  await seen;
  t.true(most - before > 2000 * 8, `${most - before} bytes were held`);
  t.is(heldFor(), before);
});
