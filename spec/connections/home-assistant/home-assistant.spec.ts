// A hub and a server that plays Home Assistant: values, writes, discovery, and everything that can happen to it.

import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as connectSocket, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Hub } from '../../../lib/index.ts';
import { eventually } from '../../support/deadline.ts';
import { createFolder } from '../../support/folder.ts';
import { startTestHub, statusOf, writer } from '../../support/hub.ts';
import { makeCertificate } from '../../support/system/certificate.ts';
import { type HouseServer, startServer } from './peers.ts';

const find = (hub: Hub, id: string) => hub.find(`home/${id}`);
const value = (hub: Hub, id: string) => find(hub, id)?.value;
const has = (hub: Hub, id: string, expected: unknown) =>
  eventually(() => value(hub, id) === expected, `${id} = ${expected}`);
const isRunning = (hub: Hub) => eventually(() => statusOf(hub, 'home').state === 'running', 'a running connection');
const isStale = (hub: Hub, id: string) => find(hub, id)?.device?.staleSince !== undefined;
const listed = (hub: Hub) =>
  [...hub.parameters()].map(({ address }) => address).filter((address) => address.startsWith('home/'));
const reasonOf = (hub: Hub) => statusOf(hub, 'home').reason ?? '';

async function write(hub: Hub, id: string, input: unknown): Promise<void> {
  hub.write(`home/${id}`, input, writer);
  await hub.whenConfirmed(find(hub, id)!, 30_000);
}

const values = {
  lamp: 'light.kitchen',
  level: { entity: 'light.kitchen', attribute: 'brightness' },
  color: 'light.kitchen/rgb',
  effect: 'light.kitchen/effect',
  socket: 'switch.socket',
  temperature: 'sensor.temperature',
  phase: { entity: 'sensor.phase', type: 'S' },
  door: 'binary_sensor.door',
  number: 'number.level',
  select: 'select.scene',
  bell: 'button.bell',
  blind: 'cover.blind',
  position: 'cover.blind/position',
  mode: 'climate.living',
  heating: 'climate.living/power',
  target: 'climate.living/temperature',
  lock: 'lock.front',
  volume: 'media_player.radio/volume',
  mute: 'media_player.radio/mute',
  doorbell: 'event.doorbell',
  press: 'event.doorbell/press',
  pressed: 'event.doorbell/type',
  message: 'text.message',
  evening: 'scene.evening',
  elevation: { entity: 'sun.sun', attribute: 'elevation', type: 'F' },
  percent: { entity: 'light.kitchen/brightness', service: 'light.turn_on', data: { brightness_pct: '{value}' } },
  announce: { service: 'notify.phone', data: { message: 'Studio: {value}' } },
} as const;

interface Started {
  readonly settings?: object;
  readonly more?: object;
}

async function start(
  t: ExecutionContext,
  { port }: Pick<HouseServer, 'port'>,
  { settings = { values }, more = {} }: Started = {},
) {
  const home = { type: 'home-assistant', url: `http://127.0.0.1:${port}`, token: 'a-long-token', ...settings };
  return startTestHub(t, { connections: { home }, ...more });
}

test('entities of each domain become typed values with metadata', async (t) => {
  const hub = await start(t, await startServer(t));
  await isRunning(hub);
  const expected = {
    ...{ lamp: false, level: 0, socket: false, temperature: 21.5, phase: 'idle', door: true, number: 20 },
    ...{ select: 'day', blind: 'closed', position: 0, mode: 'heat', heating: true, target: 20, lock: true },
    ...{ volume: 0.3, mute: false, message: '', elevation: 12.5, color: undefined },
  };
  for (const [id, one] of Object.entries(expected)) t.is(value(hub, id), one, id);
  t.like(find(hub, 'temperature')!.about, { label: 'Temperature', unit: '°C' });
  t.like(find(hub, 'number')!.about, { label: 'Level', min: 0, max: 100, step: 0.5, unit: '%' });
  t.like(find(hub, 'target')!.about, { min: 7, max: 35, step: 0.5, unit: '°C', label: 'Living temperature' });
  t.deepEqual(find(hub, 'select')!.about!.choices, { day: 'day', night: 'night' });
  t.deepEqual(find(hub, 'phase')!.about!.choices, { idle: 'idle', busy: 'busy' });
  t.deepEqual(
    ['lamp', 'temperature', 'bell', 'announce', 'blind'].map((id) => find(hub, id)!.access),
    ['read-write', 'read-only', 'write-only', 'write-only', 'read-only'],
  );
});

test('a write calls the natural action of its domain, is pending, and is the cause of the confirmed value', async (t) => {
  const server = await startServer(t);
  const hub = await start(t, server);
  await isRunning(hub);
  const writes: readonly (readonly [string, unknown, string])[] = [
    ['lamp', true, 'light.turn_on light.kitchen {}'],
    ['level', 128, 'light.turn_on light.kitchen {"brightness":128}'],
    ['color', '255,0,10', 'light.turn_on light.kitchen {"rgb_color":[255,0,10]}'],
    ['effect', 'colorloop', 'light.turn_on light.kitchen {"effect":"colorloop"}'],
    ['level', 0, 'light.turn_off light.kitchen {}'],
    ['socket', true, 'switch.turn_on switch.socket {}'],
    ['number', 20.7, 'number.set_value number.level {"value":20.7}'],
    ['select', 'night', 'select.select_option select.scene {"option":"night"}'],
    ['target', 21.5, 'climate.set_temperature climate.living {"temperature":21.5}'],
    ['mode', 'off', 'climate.set_hvac_mode climate.living {"hvac_mode":"off"}'],
    ['heating', true, 'climate.turn_on climate.living {}'],
    ['lock', false, 'lock.unlock lock.front {}'],
    ['volume', 0.55, 'media_player.volume_set media_player.radio {"volume_level":0.55}'],
    ['mute', true, 'media_player.volume_mute media_player.radio {"is_volume_muted":true}'],
    ['message', 'Grüße', 'text.set_value text.message {"value":"Grüße"}'],
    ['position', 35, 'cover.set_cover_position cover.blind {"position":35}'],
  ];
  for (const [id, one, call] of writes) {
    await write(hub, id, one);
    if (id === 'number')
      t.is(value(hub, id), 20.5); // rounded to its step
    else t.is(value(hub, id), one as never, id);
    t.is(find(hub, id)!.lastChange!.cause!.origin.name, 'spec', id);
    t.deepEqual(await server.calls(), [call]);
  }
  for (const id of ['bell', 'evening']) hub.write(`home/${id}`, true, writer);
  hub.write('home/announce', 'on air', writer);
  hub.write('home/percent', 50, writer);
  const calls: string[] = [];
  await eventually(async () => calls.push(...(await server.calls())) >= 4, 'four actions');
  t.deepEqual(calls.sort(), [
    'button.press button.bell {}',
    'light.turn_on light.kitchen {"brightness_pct":50}',
    'notify.phone {"message":"Studio: on air"}',
    'scene.turn_on scene.evening {}',
  ]);
});

test('a connection that only calls actions follows no entities', async (t) => {
  const server = await startServer(t);
  const settings = {
    values: { announce: values.announce, flash: { service: 'light.turn_on', data: { flash: 'short' } } },
  };
  const hub = await start(t, server, { settings });
  await isRunning(hub);
  hub.write('home/announce', 'on air', writer);
  hub.write('home/flash', true, writer);
  const calls: string[] = [];
  await eventually(async () => calls.push(...(await server.calls())) >= 2, 'two actions');
  t.deepEqual(calls, ['notify.phone {"message":"Studio: on air"}', 'light.turn_on {"flash":"short"}']);
  server.tell({ set: ['light.plain', 'off'] });
  await server.calls();
  t.deepEqual(listed(hub), ['home/announce', 'home/flash']);
});

test('an error is the sentence of Home Assistant, and a wrong value never leaves', async (t) => {
  const server = await startServer(t);
  const settings = {
    confirmTimeout: 300,
    values: {
      ...{ number: 'number.level', select: 'select.scene', lamp: 'light.kitchen' },
      wrong: { entity: 'light.kitchen', service: 'light.fly' },
      other: { entity: 'number.level', service: 'number.set_value', data: { value: '{value}0' } },
      ignored: { entity: 'light.plain', service: 'notify.phone' },
    },
  };
  const hub = await start(t, server, { settings });
  await isRunning(hub);
  await t.throwsAsync(write(hub, 'wrong', true), {
    code: 'not-confirmed',
    message: 'wrong: Home Assistant reported: Action light.fly not found.',
  });
  await t.throwsAsync(write(hub, 'other', 50), { message: /reported: expected float for dictionary value/ });
  await t.throwsAsync(write(hub, 'ignored', false), { message: /has not reported the value within 0.3 s/ });
  await server.calls();
  t.throws(() => hub.write('home/number', 100.5, writer), { code: 'out-of-range' });
  t.throws(() => hub.write('home/select', 'noon', writer), { message: /expected one of day, night, got "noon"/ });
  t.throws(() => hub.write('home/number', 'loud', writer), { code: 'not-convertible' });
  t.deepEqual(await server.calls(), []);
  t.is(value(hub, 'number'), 20);
});

test('two quick toggles toggle twice, and of many values the newest arrives last', async (t) => {
  const server = await startServer(t);
  const hub = await start(t, server);
  await isRunning(hub);
  server.tell({ slow: 50 });
  hub.write('home/socket', true, writer);
  await eventually(async () => (await server.calls()).length === 1, 'the first action');
  hub.write('home/socket', false, writer);
  await hub.whenConfirmed(find(hub, 'socket')!, 5000);
  t.is(value(hub, 'socket'), false);
  t.deepEqual(await server.calls(), ['switch.turn_off switch.socket {}']);
  for (let level = 1; level <= 200; level++) hub.write('home/level', level, writer);
  await hub.whenConfirmed(find(hub, 'level')!, 5000);
  t.is(value(hub, 'level'), 200);
  t.true((await server.calls()).length <= 2);
  for (let presses = 0; presses < 40; presses++) hub.write('home/bell', true, writer);
  await hub.logged(/more than 16 presses are waiting; one was dropped/);
  const presses: string[] = [];
  await eventually(async () => presses.push(...(await server.calls())) >= 16, 'presses');
  t.true(presses.length <= 17);
});

test('events of an event entity are triggers, also the same twice, and none fires for what was before', async (t) => {
  const server = await startServer(t);
  const fired: string[] = [];
  const hub = await start(t, server);
  await isRunning(hub);
  const following = hub.changes$.subscribe(({ parameter }) => fired.push(parameter.address));
  t.teardown(() => following.unsubscribe());
  server.tell({ set: ['event.doorbell', '2026-01-01T00:00:00.001+00:00', { event_type: 'press' }] });
  await has(hub, 'pressed', 'press');
  server.tell({ set: ['event.doorbell', '2026-01-01T00:00:00.002+00:00', { event_type: 'press' }] });
  server.tell({ set: ['event.doorbell', '2026-01-01T00:00:00.003+00:00', { event_type: 'hold' }] });
  await has(hub, 'pressed', 'hold');
  const count = (id: string) => fired.filter((one) => one === `home/${id}`).length;
  t.is(count('doorbell'), 3);
  t.is(count('press'), 2);
  server.tell('close');
  await eventually(() => isStale(hub, 'lamp'), 'stale values');
  await isRunning(hub);
  t.is(count('doorbell'), 3);
});

test('an unavailable entity makes only its own values stale, and an unknown state is an unknown value', async (t) => {
  const server = await startServer(t);
  const hub = await start(t, server);
  await isRunning(hub);
  server.tell({ set: ['light.kitchen', 'unavailable'] });
  await eventually(() => isStale(hub, 'lamp') && isStale(hub, 'level'), 'stale values');
  t.false(isStale(hub, 'socket'));
  t.is(value(hub, 'lamp'), false);
  t.throws(() => hub.write('home/lamp', true, writer), { code: 'unavailable' });
  t.is(statusOf(hub, 'home').state, 'running');
  server.tell({ set: ['light.kitchen', 'on', { brightness: 10 }] });
  await has(hub, 'level', 10);
  t.false(isStale(hub, 'lamp'));
  server.tell({ set: ['sensor.temperature', 'unknown'] });
  await has(hub, 'temperature', undefined);
  t.false(isStale(hub, 'temperature'));
  server.tell({ set: ['sensor.temperature', '-3.25'] });
  await has(hub, 'temperature', -3.25);
  server.tell({ set: ['sensor.temperature', 'broken'] });
  await has(hub, 'temperature', undefined);
});

test('removed and renamed entities are named; the others go on', async (t) => {
  const server = await startServer(t);
  const hub = await start(t, server, {
    settings: { values: { lamp: 'light.kitchen', none: 'light.none', socket: 'switch.socket' } },
  });
  await eventually(() => /has no entity light\.none$/.test(reasonOf(hub)), 'the reason');
  t.true(isStale(hub, 'none'));
  t.throws(() => hub.write('home/none', true, writer), { code: 'unavailable' });
  server.tell({ rename: ['light.kitchen', 'light.cellar'] });
  await eventually(() => /renamed light\.kitchen to light\.cellar/.test(reasonOf(hub)), 'the new name');
  t.true(isStale(hub, 'lamp'));
  await write(hub, 'socket', true);
  server.tell({ set: ['light.none', 'on', { supported_color_modes: ['onoff'], friendly_name: 'New' }] });
  await has(hub, 'none', true);
  t.is(find(hub, 'none')!.about!.label, 'New');
  server.tell({ rename: ['light.cellar', 'light.kitchen'] });
  await isRunning(hub);
  t.false(isStale(hub, 'lamp'));
});

test('discovery by globs declares all parts, follows new and removed entities, and leaves the others out', async (t) => {
  const server = await startServer(t);
  const discover = { include: ['light.*', 'cover.*', 'sensor.*', 'event.*', 'camera.*'], exclude: ['sensor.phase'] };
  const hub = await start(t, server, { settings: { discover, expect: ['light.kitchen/brightness,F'] } });
  await isRunning(hub);
  t.deepEqual(listed(hub).sort(), [
    ...['', '/close', '/open', '/position', '/stop'].map((part) => `home/cover.blind${part}`),
    ...['', '/hold', '/press', '/type'].map((part) => `home/event.doorbell${part}`),
    ...['', '/brightness', '/color-temp', '/effect', '/rgb'].map((part) => `home/light.kitchen${part}`),
    ...['home/light.plain', 'home/sensor.temperature'],
  ]);
  t.is(find(hub, 'sensor.temperature')!.type, 'F');
  await write(hub, 'light.kitchen/brightness', 77);
  await write(hub, 'cover.blind/position', 20);
  hub.write('home/cover.blind/open', true, writer);
  await has(hub, 'cover.blind/position', 100);
  t.is(value(hub, 'cover.blind'), 'open');
  server.tell({ set: ['light.new', 'on', { supported_color_modes: ['onoff'], friendly_name: 'New' }] });
  await has(hub, 'light.new', true);
  server.tell({ set: ['light.new', 'on', { friendly_name: 'Newer' }] });
  await eventually(() => find(hub, 'light.new')!.about!.label === 'Newer', 'the new label');
  server.tell({ remove: 'light.new' });
  await eventually(() => find(hub, 'light.new') === undefined, 'a withdrawn parameter');
  server.tell({ set: ['switch.socket', 'on'] });
  server.tell({ set: ['light.plain', 'off'] });
  await has(hub, 'light.plain', false);
  t.is(find(hub, 'switch.socket'), undefined);
});

test('areas choose entities and follow the registry; an unknown area is named', async (t) => {
  const server = await startServer(t);
  const hub = await start(t, server, {
    settings: { discover: { areas: ['kitchen', 'attic'], exclude: ['sensor.phase'] } },
  });
  await eventually(() => /has no area attic$/.test(reasonOf(hub)), 'the unknown area');
  t.true(listed(hub).includes('home/light.kitchen/brightness'));
  t.is(value(hub, 'sensor.temperature'), 21.5);
  server.tell({ area: ['attic', ['switch.socket', 'sensor.phase']] });
  await isRunning(hub);
  await has(hub, 'switch.socket', false);
  t.is(find(hub, 'sensor.phase'), undefined);
  server.tell({ area: ['kitchen', ['light.kitchen']] });
  await eventually(() => find(hub, 'sensor.temperature') === undefined, 'an entity that has left the area');
  await write(hub, 'light.kitchen', true);
});

test('a Home Assistant before 2022.4 works, too', async (t) => {
  const server = await startServer(t, { version: '2021.1.0' });
  const hub = await start(t, server, { settings: { values, discover: { include: ['light.*'] } } });
  await isRunning(hub);
  t.is(value(hub, 'temperature'), 21.5);
  await write(hub, 'level', 99);
  t.is(value(hub, 'light.kitchen/brightness'), 99);
  server.tell({ drop: ['sun.sun', 'elevation'] });
  await has(hub, 'elevation', undefined);
  server.tell({ remove: 'light.plain' });
  await eventually(() => find(hub, 'light.plain') === undefined, 'a withdrawn parameter');
});

test('a Home Assistant that is killed comes back: stale, no command is sent again, equal values fire nothing', async (t) => {
  const server = await startServer(t);
  const hub = await start(t, server, { settings: { values, discover: { include: ['light.*'] }, idleTimeout: 1500 } });
  await isRunning(hub);
  await write(hub, 'socket', true);
  server.child.kill('SIGKILL');
  await eventually(() => isStale(hub, 'lamp') && isStale(hub, 'light.plain'), 'stale values');
  t.is(value(hub, 'temperature'), 21.5);
  t.throws(() => hub.write('home/lamp', true, writer), { code: 'unavailable' });
  const changes: string[] = [];
  const following = hub.changes$.subscribe(({ parameter }) => changes.push(parameter.address));
  t.teardown(() => following.unsubscribe());
  const again = await startServer(t, { port: server.port, isStarting: true });
  await eventually(() => /is still starting/.test(reasonOf(hub)), 'a house that is starting');
  t.not(find(hub, 'light.plain'), undefined);
  t.true(isStale(hub, 'light.plain'));
  again.tell('started');
  await isRunning(hub);
  await has(hub, 'socket', false); // the new process has the switch off
  t.false(isStale(hub, 'light.plain'));
  t.deepEqual(changes, ['home/socket']);
  t.deepEqual(await again.calls(), []);
});

test('one that hangs is noticed, and continues', async (t) => {
  const server = await startServer(t);
  const hub = await start(t, server, { settings: { values, idleTimeout: 600 } });
  await isRunning(hub);
  server.child.kill('SIGSTOP');
  await eventually(() => isStale(hub, 'lamp'), 'stale values');
  server.child.kill('SIGCONT');
  await isRunning(hub);
  await write(hub, 'lamp', true);
  server.tell({ silent: true });
  await eventually(() => /has been silent|none of the expected messages/.test(reasonOf(hub)), 'silence');
  server.tell({ silent: false });
  await isRunning(hub);
  t.false(isStale(hub, 'lamp'));
});

test('a cut link is noticed, and the newest values are there after it', async (t) => {
  const server = await startServer(t);
  let isCut = false;
  const sockets = new Set<Socket>();
  const relay = createServer((socket) => {
    const other = connectSocket(server.port, '127.0.0.1');
    for (const [one, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => to.destroy());
      one.on('data', (bytes) => !isCut && to.write(bytes));
    }
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  t.teardown(() => {
    relay.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = relay.address() as { port: number };
  const hub = await start(t, { port }, { settings: { values, idleTimeout: 600, connectTimeout: 300 } });
  await isRunning(hub);
  isCut = true;
  server.tell({ set: ['sensor.temperature', '5'] });
  await eventually(() => isStale(hub, 'temperature'), 'stale values');
  isCut = false;
  await has(hub, 'temperature', 5);
  await isRunning(hub);
  t.false(isStale(hub, 'temperature'));
});

test('garbage is refused and counted, a message that is too long ends the link, and the neighbours go on', async (t) => {
  const server = await startServer(t);
  const hub = await start(t, server);
  await isRunning(hub);
  const garbage = [
    ...[
      'nonsense',
      '[]',
      'null',
      '{"type":"event"}',
      '{"id":4,"type":"event","event":{"a":{"light.kitchen":{"s":7}}}}',
      '[1,2]',
    ],
    ...['{"id":4,"type":"event","event":{"c":{"light.kitchen":{"+":{"a":7,"s":{}}},"x":null},"a":[],"r":7}}'],
    ...['{"id":4,"type":"event","event":{"c":{"light.kitchen":{"+":{"a":{"brightness":"loud"}}}}}}'],
    ...['{"id":99,"type":"result","success":true}', '{"id":1,"type":"event","event":null}', '{"type":"auth_required"}'],
  ];
  for (const raw of garbage) server.tell({ raw });
  server.tell({ set: ['sensor.temperature', '9'] });
  await has(hub, 'temperature', 9);
  t.true((statusOf(hub, 'home').wire?.refused ?? 0) >= 3);
  t.is(statusOf(hub, 'home').state, 'running');
  server.tell({ bytes: 17 * 1_048_576 });
  await eventually(() => isStale(hub, 'lamp'), 'stale values');
  t.regex(reasonOf(hub), /Max payload size exceeded/);
  await isRunning(hub);
});

test('a flood of changes is followed, and its last values are right', async (t) => {
  const server = await startServer(t, { lights: 200 });
  const hub = await start(t, server, { settings: { values, discover: { include: ['light.many_*'] } } });
  await isRunning(hub);
  server.tell({ changesPerSecond: 20_000 });
  const fromMs = performance.now();
  await write(hub, 'socket', true);
  t.true(performance.now() - fromMs < 5000);
  await new Promise((resolve) => setTimeout(resolve, 500));
  server.tell({ changesPerSecond: 0 });
  server.tell({ set: ['light.many_200', 'on', { brightness: 254 }] });
  await has(hub, 'light.many_200/brightness', 254);
});

test('a wrong token is told by its sentence, and no secret is in the log or on the wire', async (t) => {
  const server = await startServer(t, { token: 'another' });
  const hub = await start(t, server);
  await eventually(() => !['', 'starting'].includes(reasonOf(hub)), 'a reason');
  t.regex(reasonOf(hub), /: Home Assistant refused the token: Invalid access token or password$/);
  t.false(JSON.stringify(hub.lines).includes('a-long-token'));
  const frames = hub.wire('home', 0)!;
  t.true(frames.some(({ text }) => text === 'auth ***'));
  for (const { text, hex = '' } of frames)
    t.false(`${text} ${hex}`.includes('a-long-token') || hex.includes(Buffer.from('a-long-token').toString('hex')));
});

test('TLS is verified; a pinned certificate is accepted, and no other', async (t) => {
  const folder = await createFolder(t, {});
  const cert = makeCertificate(folder, 'house');
  const { fingerprint256: fingerprint } = new X509Certificate(cert);
  const server = await startServer(t, { key: readFileSync(join(folder, 'house.key'), 'utf8'), cert: String(cert) });
  const url = `https://127.0.0.1:${server.port}`;
  const reasonWith = async (tls: object | undefined) => {
    const hub = await start(t, server, { settings: { url, values: { lamp: 'light.kitchen' }, ...(tls && { tls }) } });
    await eventually(() => reasonOf(hub) !== 'starting', 'a state');
    return reasonOf(hub);
  };
  t.regex(await reasonWith(undefined), /self-signed; set tls\.caFile or tls\.fingerprint/);
  t.regex(await reasonWith({ fingerprint: 'ab'.repeat(32) }), /expected the certificate/);
  t.is(await reasonWith({ fingerprint }), '');
});

test('a rule follows a discovered parameter that it expects, and simulate confirms at once', async (t) => {
  const server = await startServer(t);
  const rules = [{ name: 'follow', from: 'home/light.plain', map: 'value ? 10 : 20', to: 'home/number.level' }];
  const settings = { expect: ['light.plain,B', 'number.level,F'] };
  const hub = await start(t, server, { settings, more: { rules } });
  await isRunning(hub);
  t.is(value(hub, 'number.level'), 20); // what was before is no change
  server.tell({ set: ['light.plain', 'off'] });
  await has(hub, 'light.plain', false);
  server.tell({ set: ['light.plain', 'on'] });
  await has(hub, 'number.level', 10);
  const simulated = await start(t, server, { settings: { values, simulate: true } });
  await write(simulated, 'level', 5);
  t.is(value(simulated, 'level'), 5);
});
