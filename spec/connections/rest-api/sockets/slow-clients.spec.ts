// Clients read slowly or not at all, or ask for large snapshots (D-28, D-06). The hub holds a bounded amount for each, the newest value of
// everything arrives, no value comes after a newer one, and nobody else waits.

import test, { type ExecutionContext } from 'ava';
import { ask } from '../../../support/http.ts';
import { api, expectQuietLog, startTestHub } from '../../../support/hub.ts';
import { type Frame, opcodes, openClient, openRawClient, type RawClient } from '../../../support/sockets/socket.ts';

const writer = { kind: 'client', name: 'test' } as const;
const padding = 'x'.repeat(1000);
/** 1 MiB, and what one run of frames may go beyond. */
const maxUnreadBytes = 1024 * 1024 + 64 * 1024;

const startDesk = (t: ExecutionContext, names: string[]) =>
  startTestHub(t, { connections: { api, desk: { type: 'dummy', parameters: names } } });

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `p${index}`);

/** How much the hub holds for each of its clients, without what the buffers of the system have taken. */
async function unreadOf(t: ExecutionContext, port: number): Promise<number[]> {
  const { clients } = JSON.parse((await ask(t, port, 'GET /hub/clients')).text);
  return clients.map(({ unreadBytes }: { unreadBytes: number }) => unreadBytes);
}

/** The next frame that tells something: a heartbeat does not. */
async function nextText({ frames }: RawClient, what?: string): Promise<Frame> {
  for (;;) {
    const { opcode, payload } = await frames.next(what);
    if (opcode === opcodes.text) return JSON.parse(payload.toString());
  }
}

/** Reads up to the notification of this value and returns what was told, in order. */
async function readUntil(client: RawClient, address: string, value: string): Promise<Frame[]> {
  const reported: Frame[] = [];
  for (;;) {
    const frame = await nextText(client, `${address} = ${value}`);
    reported.push(frame);
    if (frame.p === address && frame.v === value) return reported;
  }
}

/** Fails when a parameter went back: values begin with a number that only grows. */
function expectForward(t: ExecutionContext, reported: readonly Frame[]): void {
  const last = new Map<string, number>();
  for (const { p, v } of reported) {
    const value = Number.parseInt(v!, 10);
    if (value < (last.get(p!) ?? -1)) t.fail(`${p}: ${value} was told after ${last.get(p!)}`);
    last.set(p!, value);
  }
}

test('D-28: a client that stops reading costs a limited amount, gets the newest values, and is live again', async (t) => {
  const names = numbered(500);
  const hub = await startDesk(t, [...names, 'go,T', 'mark,I']);
  const stalled = await openRawClient(t, hub.port);
  const leaving = await openRawClient(t, hub.port);
  const reader = await openClient(t, hub.port);
  let count = 0;
  let fires = 0;
  for (let stall = 1; stall <= 2; stall++) {
    stalled.pause();
    leaving.pause();
    const first = count;
    while (count < first + 12_000) {
      const from = count;
      while (count < from + 200) hub.write(`desk/p${count % 500}`, `${count++} ${padding}`, writer);
      hub.write('desk/go', 1, writer);
      for (let expected = from; expected < count; expected++) {
        const { p, v } = await reader.next();
        if (p !== `desk/p${expected % 500}` || v !== `${expected} ${padding}`) t.fail(`${expected} was told as ${p}`);
      }
      t.is((await reader.next()).p, 'desk/go');
    }
    hub.write('desk/mark', stall, writer);
    t.is((await reader.next()).p, 'desk/mark');
    for (const unreadBytes of await unreadOf(t, hub.port))
      t.true(unreadBytes <= maxUnreadBytes, `${unreadBytes} bytes of 12 MB were held for one client`);
    t.true(hub.lines.some(({ message }) => message.startsWith('client 127.0.0.1 exceeded the limit unreadBytes ')));
    leaving.cut();
    fires += count / 200 - first / 200;

    stalled.resume();
    const reported = await readUntil(stalled, 'desk/mark', String(stall));
    const values = reported.filter(({ p }) => /\/p\d+$/.test(p!));
    expectForward(t, values);
    const picture = new Map(values.map(({ p, v }) => [p, v]));
    for (const name of names) t.is(picture.get(`desk/${name}`), hub.find(`desk/${name}`)?.value as string, name);

    for (let live = 0; live < 300; live++) hub.write('desk/p7', `${count + live} live`, writer);
    const lively = await readUntil(stalled, 'desk/p7', `${count + 299} live`);
    t.deepEqual(
      lively.map(({ v }) => v),
      Array.from({ length: 300 }, (_, live) => `${count + live} live`),
    );
    for (let live = 0; live < 300; live++) t.is((await reader.next()).v, `${count + live} live`);
    hub.write('desk/go', 1, writer);
    t.deepEqual(await nextText(stalled), { p: 'desk/go', v: '1' });
    t.is((await reader.next()).p, 'desk/go');
    count += 300;
    const { text } = await ask(t, hub.port, 'GET /hub/metrics');
    const lost = Number(/^patchbay_fires_lost_total (.*)$/m.exec(text)![1]);
    t.true(lost > fires / 3 && lost <= 2 * fires, `${lost} of ${fires} fires for each of two clients are lost`);
  }
  expectQuietLog(t, hub);
});

test('D-28: a client also catches up on more changes in one round than it may have unread', async (t) => {
  const names = numbered(3000);
  const hub = await startDesk(t, [...names, 'mark,I']);
  const client = await openRawClient(t, hub.port);
  for (let round = 1; round <= 2; round++) {
    for (let count = 0; count < 12_000; count++)
      hub.write(`desk/p${count % 3000}`, `${round * 12_000 + count} ${padding}`, writer);
    hub.write('desk/mark', round, writer);
    const reported = await readUntil(client, 'desk/mark', String(round));
    expectForward(t, reported);
    const picture = new Map(reported.map(({ p, v }) => [p, v]));
    for (const name of names) t.is(picture.get(`desk/${name}`), hub.find(`desk/${name}`)?.value as string, name);
  }
});

test('D-06: a snapshot of more than 10,000 parameters ends with the right values, after any changes meanwhile', async (t) => {
  const names = numbered(12_000);
  const hub = await startDesk(t, [...names, 'mark,I']);
  names.forEach((name, index) => {
    hub.write(`desk/${name}`, `${index} ${padding}`, writer);
  });
  const client = await openRawClient(t, hub.port, '?snapshot=true');
  const reported: Frame[] = [];
  let count = 12_000;
  while (reported.length < 20_000 && reported.at(-1)?.v !== '1') {
    for (let change = 0; change < 5 && count < 20_000; change++) {
      hub.write(`desk/p${(count * 7919) % 12_000}`, `${count++} ${padding}`, writer);
      if (count === 20_000) hub.write('desk/mark', 1, writer);
    }
    reported.push(await nextText(client));
    while (client.frames.length > 0 && reported.at(-1)?.v !== '1') reported.push(await nextText(client));
  }
  t.is(reported.at(-1)?.v, '1');
  expectForward(t, reported);
  const picture = new Map(reported.map(({ p, v }) => [p, v]));
  for (const name of names) t.is(picture.get(`desk/${name}`), hub.find(`desk/${name}`)?.value as string, name);
  hub.write('desk/p0', 'live', writer);
  t.deepEqual(await nextText(client), { p: 'desk/p0', v: 'live' });
});

test('D-06: a client that does not read its snapshot costs a limited amount, and gets the right values later', async (t) => {
  const names = numbered(12_000);
  const hub = await startDesk(t, [...names, 'mark,I']);
  names.forEach((name, index) => {
    hub.write(`desk/${name}`, `${index} ${padding}`, writer);
  });
  const clients = await Promise.all(
    ['?snapshot=true', '?snapshot=true&filter=[0-4]$&filter=mark'].map((query) => openRawClient(t, hub.port, query)),
  );
  for (const client of clients) client.pause();
  for (let count = 12_000; count < 30_000; count++) hub.write(`desk/p${count % 12_000}`, `${count} ${padding}`, writer);
  hub.write('desk/mark', 1, writer);
  t.is((await ask(t, hub.port, 'GET /parameters/desk/mark')).text, '1');
  for (const [index, client] of clients.entries()) {
    client.resume();
    const reported = await readUntil(client, 'desk/mark', '1');
    expectForward(t, reported);
    const picture = new Map(reported.map(({ p, v }) => [p, v]));
    const expected = names.filter((name) => index === 0 || /[0-4]$/.test(name));
    t.is(picture.size, expected.length + 1);
    for (const name of expected) t.is(picture.get(`desk/${name}`), hub.find(`desk/${name}`)?.value as string, name);
    t.true(reported.length < 2 * 12_000, `${reported.length} frames were held or sent`);
  }
});

test('D-28: a client that does not read the answers to its mistakes loses some of them, and is live again', async (t) => {
  const hub = await startDesk(t, ['a,S', 'mark,I']);
  const other = await openClient(t, hub.port);
  const client = await openRawClient(t, hub.port);
  client.pause();
  const wrong = JSON.stringify({ p: `desk/${'x'.repeat(20_000)}`, v: 1 });
  for (let count = 1; count <= 600; count++) {
    client.send(opcodes.text, wrong);
    if (count % 50 !== 0) continue;
    const v = count < 600 ? String(count) : 'after the mistakes';
    client.send(opcodes.text, JSON.stringify({ p: 'desk/a', v }));
    t.deepEqual(await other.next(), { p: 'desk/a', v });
  }
  client.resume();
  await readUntil(client, 'desk/a', 'after the mistakes');
  hub.write('desk/mark', 1, writer);
  await readUntil(client, 'desk/mark', '1');
  hub.write('desk/a', 'live', writer);
  t.deepEqual(await nextText(client), { p: 'desk/a', v: 'live' });
  expectQuietLog(t, hub);
});

test('D-28: long texts for many clients arrive in order, with the fires between them, also at clients that join meanwhile', async (t) => {
  const hub = await startDesk(t, ['text', 'count,I', 'go,T']);
  const readers = await Promise.all(Array.from({ length: 100 }, () => openRawClient(t, hub.port)));
  const long = 'x'.repeat(60_000);
  const expected: (string | undefined)[] = [];
  const change = (name: string, value: string | number | boolean) => {
    hub.write(`desk/${name}`, value, writer);
    expected.push(name === 'go' ? 'go' : String(value).slice(0, 10));
  };
  for (let number = 0; number < 8; number++) {
    change('text', `${number} ${long}`);
    change('count', number);
    change('go', true);
  }
  const handshakeRequest = await openRawClient(t, hub.port, '?snapshot=true');
  change('text', 'last');
  for (const reader of readers) {
    const reported = await readUntil(reader, 'desk/text', 'last');
    t.deepEqual(
      reported.map(({ p, v }) => (p === 'desk/go' ? 'go' : v!.slice(0, 10))),
      expected,
    );
  }
  const reported = await readUntil(handshakeRequest, 'desk/text', 'last');
  const values = reported.filter(({ p }) => p === 'desk/text').map(({ v }) => v!.slice(0, 1));
  t.deepEqual(values.slice(-2), ['7', 'l']);
});

test('D-28: with more long texts than may wait for many clients, each gets the newest, and is live again', async (t) => {
  const hub = await startDesk(t, ['text', 'count,I']);
  const readers = await Promise.all(Array.from({ length: 100 }, () => openRawClient(t, hub.port)));
  const long = 'x'.repeat(60_000);
  for (let number = 0; number < 100; number++) hub.write('desk/text', `${number} ${long}`, writer);
  hub.write('desk/count', 1, writer);
  const last = `99 ${long}`;
  for (const reader of readers) expectForward(t, await readUntil(reader, 'desk/text', last));
  const { clients } = JSON.parse((await ask(t, hub.port, 'GET /hub/clients')).text);
  t.true(clients.every(({ unreadBytes }: { unreadBytes: number }) => unreadBytes < maxUnreadBytes));
  hub.write('desk/count', 2, writer);
  for (const reader of readers) await readUntil(reader, 'desk/count', '2');
});
