// A hub on which surfaces connect: they are written from the published protocol. They show parameters, press keys, come twice, die and
// misbehave.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { crc32, deflateSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { WebSocket } from 'ws';
import type { Hub } from '../../../lib/index.ts';
import { eventually } from '../../support/deadline.ts';
import { startTestHub, statusOf, writer } from '../../support/hub.ts';
import { freePort } from '../../support/system/port.ts';
import { pixelOf, SurfaceClient, type SurfaceOptions } from './client.ts';

const keys = {
  'cam/{n:1..3}': { key: '{n}', text: 'CAM {n}' },
  cut: { key: '3/7', color: '#123', image: true },
  dial: { key: 0, encoder: true },
};
const surfaces = { deck: { device: 'streamdeck:1', keys }, wall: { device: '*', keys, brightness: 40 } };
const value = (hub: Hub, id: string) => hub.find(`it/${id}`)?.value;
const has = (hub: Hub, id: string, expected: unknown) =>
  eventually(() => value(hub, id) === expected, `${id} = ${expected}, got ${value(hub, id)}`);
const isStale = (hub: Hub, id: string) => hub.find(`it/${id}`)!.device?.staleSince !== undefined;
const refusedOf = (hub: Hub) => statusOf(hub, 'it').wire?.refused ?? 0;

async function start(t: ExecutionContext, settings: object = {}, more: object = {}) {
  const port = await freePort();
  const hub = await startTestHub(t, {
    connections: { it: { type: 'satellite', listen: `127.0.0.1:${port}`, surfaces, ...settings } },
    ...more,
  });
  await eventually(() => statusOf(hub, 'it').state === 'running', 'a running connection');
  return { hub, port };
}

function surface(t: ExecutionContext, options: SurfaceOptions): SurfaceClient {
  const client = new SurfaceClient(options);
  t.teardown(() => client.end());
  return client;
}

test('a surface is greeted, added, and shows the texts and colours of its keys in the forms that it asks for', async (t) => {
  const { hub, port } = await start(t);
  const deck = surface(t, {
    ...{ port, deviceId: 'streamdeck:1' },
    args: 'KEYS_TOTAL=32 KEYS_PER_ROW=8 BITMAPS=0 COLORS=hex TEXT=true TEXT_STYLE=1',
  });
  t.is(value(hub, 'deck/connected'), false);
  t.is(await deck.start(), 'ADD-DEVICE OK DEVICEID="streamdeck:1"');
  t.regex(deck.begin!, /^BEGIN CompanionVersion="?\S+"? ApiVersion="?1\.8\.0"?$/);
  await deck.until(() => deck.keys.size === 5);
  t.deepEqual(deck.keys.get(1), { color: '#000000', textColor: '#ffffff', text: 'CAM 1', fontSize: '18' });
  t.like(deck.keys.get(31), { color: '#112233', text: '' });
  t.is(deck.brightness, 100);
  t.is(deck.clears, 1);
  await has(hub, 'deck/connected', true);
  t.is(value(hub, 'deck/cam/1/pressed'), false);

  hub.turn(() => {
    hub.write('it/deck/cam/2/text', 'Größe "2"\\', writer);
    hub.write('it/deck/cam/2/color', 'amber', writer);
    hub.write('it/deck/cam/2/textColor', '#0F0', writer);
    hub.write('it/deck/brightness', 20, writer);
  });
  await deck.until(() => deck.keys.get(2)?.color === '#ffb000' && deck.brightness === 20);
  t.like(deck.keys.get(2), { text: 'Größe "2"\\', textColor: '#00ff00' });
  hub.write('it/deck/cam/2/lamp', true, writer);
  await deck.until(() => deck.keys.get(2)?.color === '#ff0000');
  hub.write('it/deck/cam/2/lamp', false, writer);
  await deck.until(() => deck.keys.get(2)?.color === '#ffb000');
  t.throws(() => hub.write('it/deck/cam/2/color', 'mauve', writer), {
    message: /expected #rrggbb, #rgb, a number 0..16777215 or one of black/,
  });
});

test('a surface over WebSocket gets bitmaps with colour, text and image, and colours in CSS notation', async (t) => {
  const webSocketPort = await freePort();
  const { hub } = await start(t, { webSocketListen: `127.0.0.1:${webSocketPort}` });
  const deck = surface(t, {
    ...{ port: webSocketPort, over: 'ws', deviceId: 'other:7' },
    args: 'KEYS_TOTAL=32 KEYS_PER_ROW=8 BITMAPS=96 COLORS=rgb',
  });
  t.regex(await deck.start(), /^ADD-DEVICE OK/);
  await deck.until(() => deck.keys.size === 5);
  t.is(deck.brightness, 40);
  t.like(deck.keys.get(31), { color: 'rgb(17,34,51)' });
  const plain = deck.keys.get(31)!.bitmap!;
  t.is(plain.length, 96 * 96 * 3);
  t.true([0, 50, 95].every((at) => pixelOf(plain, at, at) === '#112233'));
  const withText = deck.keys.get(1)!.bitmap!;
  t.true(withText.includes(Buffer.from('ffffff', 'hex')), 'white letters');
  t.is(pixelOf(withText, 0, 0), '#000000');

  hub.write('it/wall/cut/image', pngOf(2, 2, [255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 0, 0, 0, 0]), writer);
  await deck.until(() => pixelOf(deck.keys.get(31)!.bitmap!, 10, 10) === '#ff0000');
  const image = deck.keys.get(31)!.bitmap!;
  t.is(pixelOf(image, 80, 10), '#00ff00');
  t.is(pixelOf(image, 10, 80), '#0000ff');
  t.is(pixelOf(image, 80, 80), '#112233'); // transparent
  for (const wrong of ['abc', pngOf(513, 1, Array(513 * 4).fill(0)), pngOf(4, 4, [0, 0, 0, 0])])
    t.throws(() => hub.write('it/wall/cut/image', wrong, writer), {
      message: /expected (?:a|an) (?:PNG|complete|image)/,
    });
});

/** A PNG image in base64, of RGBA pixels. */
function pngOf(width: number, height: number, pixels: readonly number[]): string {
  const rows = Buffer.alloc(Math.floor(pixels.length / (width * 4)) * (width * 4 + 1));
  for (let y = 0; y * width * 4 < pixels.length; y++)
    Buffer.from(pixels.slice(y * width * 4, (y + 1) * width * 4)).copy(rows, y * (width * 4 + 1) + 1);
  const chunk = (type: string, data: Buffer) => {
    const bytes = Buffer.alloc(12 + data.length);
    bytes.writeUInt32BE(data.length, 0);
    bytes.write(type, 4, 'latin1');
    data.copy(bytes, 8);
    bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length);
    return bytes;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 6, 0, 0, 0], 8);
  const parts = [chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...parts]).toString('base64');
}

test('presses and turns are parameters, by number and by row and column, and a rule lights a lamp', async (t) => {
  const rules = [{ from: 'it/deck/cut/pressed', to: 'it/deck/cut/lamp' }];
  const { hub, port } = await start(t, {}, { rules });
  const seen: unknown[] = [];
  hub.changes$.subscribe({
    next: ({ parameter, value: to }) => {
      if (/dial|cut\/pressed/.test(parameter.address)) seen.push([parameter.address, to]);
    },
  });
  const deck = surface(t, { port, deviceId: 'streamdeck:1', args: 'BITMAPS=0 COLORS=true' });
  await deck.start();
  await deck.until(() => deck.keys.size === 5);
  deck.press('3/7');
  await deck.until(() => deck.keys.get(31)?.color === '#ff0000');
  deck.press(31, false);
  await deck.until(() => deck.keys.get(31)?.color === '#112233');
  seen.length = 0;
  deck.rotate(0, 1);
  deck.rotate(0, -1);
  deck.press('3/7');
  deck.press('3/7', false);
  await eventually(() => seen.length >= 4, 'four changes');
  t.deepEqual(seen, [
    ['it/deck/dial/right', 1],
    ['it/deck/dial/left', 1],
    ['it/deck/cut/pressed', true],
    ['it/deck/cut/pressed', false],
  ]);
  deck.press(99);
  deck.press('x');
  deck.send('KEY-PRESS DEVICEID=nobody KEY=1 PRESSED=1');
  deck.send('NONSENSE A=1');
  deck.send('PINCODE-KEY DEVICEID="streamdeck:1" KEY=1');
  await deck.until(() => deck.lines.some((line) => line.startsWith('PINCODE-KEY ERROR')));
  t.is(deck.lines.filter((line) => /^KEY-PRESS ERROR .*MESSAGE="expected/.test(line)).length, 3);
  t.true(deck.lines.includes('ERROR MESSAGE="Unknown command: NONSENSE"'));
  t.is(refusedOf(hub), 5);
});

test('several surfaces share an entry with device *: each shows it, and a key is pressed until the last hand is off', async (t) => {
  const { hub, port } = await start(t);
  const decks = ['a', 'b'].map((deviceId) => surface(t, { port, deviceId, args: 'BITMAPS=0 TEXT=1' }));
  for (const deck of decks) await deck.start();
  for (const deck of decks) await deck.until(() => deck.keys.get(1)?.text === 'CAM 1');
  decks[0]!.press(1);
  decks[1]!.press(1);
  await has(hub, 'wall/cam/1/pressed', true);
  decks[0]!.press(1, false);
  decks[0]!.press(2);
  await has(hub, 'wall/cam/2/pressed', true);
  t.is(value(hub, 'wall/cam/1/pressed'), true);
  decks[1]!.end();
  await has(hub, 'wall/cam/1/pressed', false);
  t.is(value(hub, 'wall/connected'), true);
});

test('a surface that is killed releases its keys, is stale, and shows the newest state when it is back', async (t) => {
  const { hub, port } = await start(t);
  const program = join(import.meta.dirname, 'surface-process.ts');
  const child = fork(program, [String(port), 'streamdeck:1'], { execArgv: ['--disable-warning=ExperimentalWarning'] });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child, 'message');
  child.send({ press: 1 });
  await has(hub, 'deck/cam/1/pressed', true);
  child.kill('SIGKILL');
  await has(hub, 'deck/cam/1/pressed', false);
  await eventually(() => isStale(hub, 'deck/cam/1/pressed'), 'stale');
  t.is(value(hub, 'deck/connected'), false);
  hub.write('it/deck/cam/1/text', 'meanwhile', writer);
  const deck = surface(t, { port, deviceId: 'streamdeck:1', args: 'BITMAPS=0 TEXT=1' });
  await deck.start();
  await deck.until(() => deck.keys.get(1)?.text === 'meanwhile');
  await eventually(() => !isStale(hub, 'deck/cam/1/pressed'), 'fresh');
});

test('a stopped surface and a silent link end after the idle timeout, and delay no other surface', async (t) => {
  const { hub, port } = await start(t, { idleTimeout: '2s' });
  const program = join(import.meta.dirname, 'surface-process.ts');
  const child = fork(program, [String(port), 'streamdeck:1'], { execArgv: ['--disable-warning=ExperimentalWarning'] });
  t.teardown(() => child.kill('SIGKILL'));
  await once(child, 'message');
  const other = surface(t, { port, deviceId: 'b', args: 'BITMAPS=72 TEXT=1' });
  await other.start();
  const silent = connect(port, '127.0.0.1');
  silent.on('error', () => {});
  t.teardown(() => silent.destroy());
  child.kill('SIGSTOP');
  t.teardown(() => child.kill('SIGCONT'));
  const silentClosed = once(silent.resume(), 'close');
  for (let at = 0; at < 100; at++) {
    hub.turn(() => {
      for (const name of ['deck', 'wall']) hub.write(`it/${name}/cam/1/text`, `text ${at}`, writer);
    });
    await other.until(() => other.keys.get(1)?.text === `text ${at}`);
  }
  await has(hub, 'deck/connected', false);
  await silentClosed;
  t.false(other.isClosed, JSON.stringify(statusOf(hub, 'it')));
  t.is(value(hub, 'wall/connected'), true);
});

test('a second surface with the same device ID is refused while the first is alive, and takes over from a dead one', async (t) => {
  const { hub, port } = await start(t, { idleTimeout: '60s' });
  const first = surface(t, { port, deviceId: 'streamdeck:1', args: 'BITMAPS=0 TEXT=1' });
  await first.start();
  const second = surface(t, { port, deviceId: 'streamdeck:1', args: 'BITMAPS=0 TEXT=1' });
  t.regex(
    await second.start(),
    /^ADD-DEVICE ERROR .*MESSAGE="127\.0\.0\.1:\d+ has a surface with this device ID, which is still connected"/,
  );
  t.false(first.isClosed);
  first.press(1);
  await has(hub, 'deck/cam/1/pressed', true);
  first.end();
  await has(hub, 'deck/connected', false);

  const dead = surface(t, { port, deviceId: 'streamdeck:1', isSilent: true });
  t.regex(await dead.start(), /OK/);
  const heir = surface(t, { port, deviceId: 'streamdeck:1', args: 'BITMAPS=0 TEXT=1' });
  t.regex(await heir.start(), /^ADD-DEVICE OK/);
  await dead.until(() => dead.isClosed);
  await heir.until(() => heir.keys.size === 5);
  t.is(value(hub, 'deck/connected'), true);

  t.regex(await again(heir), /OK/);
  t.is(value(hub, 'deck/connected'), true);
});

/** Adds a device a second time on its own link. */
async function again(client: SurfaceClient): Promise<string> {
  client.lines.length = 0;
  return client.add();
}

test('garbage, endless lines and floods end or delay only their own link', async (t) => {
  const { hub, port } = await start(t);
  const good = surface(t, { port, deviceId: 'b', args: 'BITMAPS=0 TEXT=1' });
  await good.start();
  const attack = async (bytes: Buffer | string, times = 1) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    t.teardown(() => socket.destroy());
    await once(socket, 'connect');
    for (let at = 0; at < times && !socket.destroyed; at++)
      if (!socket.write(bytes)) await Promise.race([once(socket, 'drain').catch(() => {}), after(200)]);
    return socket;
  };
  const endless = await attack(Buffer.alloc(200_000, 'a'));
  await once(endless.resume(), 'close');
  const random = Buffer.alloc(100_000);
  for (let at = 0; at < random.length; at++) random[at] = (at * 7919 + (at >> 3)) & 255;
  const garbage = await attack(random);
  garbage.resume();
  const unread = await attack(`PING ${'x'.repeat(1000)}\n`.repeat(100), 200); // it never reads the answers
  const flood = await attack('KEY-PRESS DEVICEID=none KEY=1 PRESSED=1\n'.repeat(1000), 20);
  flood.resume();
  let slowestMs = 0;
  for (let at = 0; at < 50; at++) {
    const startMs = performance.now();
    hub.write('it/wall/cam/1/text', `text ${at}`, writer);
    await good.until(() => good.keys.get(1)?.text === `text ${at}`);
    slowestMs = Math.max(slowestMs, performance.now() - startMs);
  }
  t.true(slowestMs < 2000, `${slowestMs} ms`);
  unread.destroy();
  t.true(refusedOf(hub) > 10);
  t.is(statusOf(hub, 'it').state, 'running');
});

test('web pages, addresses that are not allowed and unknown devices are refused, with the reason for the operator', async (t) => {
  const webSocketPort = await freePort();
  const { hub, port } = await start(t, {
    webSocketListen: `127.0.0.1:${webSocketPort}`,
    surfaces: { deck: { device: 'streamdeck:1', keys } },
  });
  const page = new WebSocket(`ws://127.0.0.1:${webSocketPort}`, { origin: 'https://evil.example' });
  const [error] = (await once(page, 'error')) as [Error];
  t.regex(error.message, /401/);
  t.is((await fetch(`http://127.0.0.1:${webSocketPort}/`)).status, 426);
  const stranger = surface(t, { port, deviceId: 'streamdeck:2' });
  t.regex(await stranger.start(), /^ADD-DEVICE ERROR .*no surface of this hub has this device ID/);
  await hub.logged(/no entry in `surfaces` has the device ID "streamdeck:2": add an entry/);
  const wide = surface(t, { port, deviceId: 'streamdeck:1', args: 'BITMAPS=9999' });
  t.regex(await wide.start(), /^ADD-DEVICE ERROR .*expected BITMAPS from 0 to 256/);

  const closed = await start(t, { allowFrom: ['10.0.0.0/8'] });
  const socket = connect(closed.port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'close');
  t.is(refusedOf(closed.hub), 1);
});

test('REMOVE-DEVICE and QUIT take a surface away, and a link carries several', async (t) => {
  const { hub, port } = await start(t);
  const deck = surface(t, { port, deviceId: 'streamdeck:1', args: 'BITMAPS=0 TEXT=1' });
  await deck.start();
  deck.send('ADD-DEVICE DEVICEID=second PRODUCT_NAME="B" BITMAPS=0');
  await has(hub, 'wall/connected', true);
  deck.send('REMOVE-DEVICE DEVICEID=second');
  await has(hub, 'wall/connected', false);
  t.is(value(hub, 'deck/connected'), true);
  deck.send('QUIT');
  await deck.until(() => deck.isClosed);
  await has(hub, 'deck/connected', false);
});

test('errors in the settings are found before anything runs', async (t) => {
  const check = (settings: object) =>
    startTestHub(t, { connections: { it: { type: 'satellite', listen: 1, ...settings } } }).then(
      () => '',
      ({ message }: Error) => message,
    );
  t.regex(await check({ listen: undefined }), /expected `listen`, `webSocketListen` or both/);
  t.regex(
    await check({ surfaces: { a: { keys: { x: { key: 1 }, y: { key: 1 } } } } }),
    /expected each key of the surface once/,
  );
  t.regex(await check({ surfaces: { a: { keys: { 'k/{n:1..2}': { key: '{m}' } } } } }), /unknown variable/);
  t.regex(await check({ surfaces: { a: {}, b: {} } }), /expected each device once/);
  t.regex(await check({ surfaces: { a: { keys: { connected: { key: 1, color: 'mauve' } } } } }), /expected #rrggbb/);
  t.regex(await check({ surfaces: { a: { keys: { x: { key: 'first' } } } } }), /expected an integer 0\.\.1023/);
  t.regex(
    await check({ surfaces: { 'd/{a:1..100}': { device: '{a}', keys: { 'k/{n:0..200}': { key: '{n}' } } } } }),
    /expected at most 16384 keys/,
  );
});
