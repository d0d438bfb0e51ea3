// A hub that speaks Modbus with others: servers of modbus-serial and jsmodbus, the clients mbpoll and jsmodbus, over TCP and RTU.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import type { Hub } from '../../../lib/index.ts';
import { eventually } from '../../support/deadline.ts';
import { startTestHub, statusOf, writer } from '../../support/hub.ts';
import { needs } from '../../support/programs.ts';
import { freePort } from '../../support/system/port.ts';
import { jsmodbus, startDevice, startLine } from './peers.ts';

needs('socat', 'mbpoll');

const run = promisify(execFile);
const place = (port: number) => `127.0.0.1:${port}`;
const value = (hub: Hub, id: string) => hub.find(`it/${id}`)?.value;
const has = (hub: Hub, id: string, expected: unknown) =>
  eventually(() => value(hub, id) === expected, `${id} = ${expected}, got ${value(hub, id)}`);
const isRunning = (hub: Hub) => eventually(() => statusOf(hub, 'it').state === 'running', 'a running connection');
const isStale = (hub: Hub, id: string) => hub.find(`it/${id}`)!.device?.staleSince !== undefined;
const refusedOf = (hub: Hub) => statusOf(hub, 'it').wire?.refused ?? 0;
const confirmed = (hub: Hub, id: string) => hub.whenConfirmed(hub.find(`it/${id}`)!, 30_000);

async function start(t: ExecutionContext, settings: object) {
  const hub = await startTestHub(t, { connections: { it: { type: 'modbus', every: 50, ...settings } } });
  await isRunning(hub);
  return hub;
}

test('a device is read: every table and type, in as few requests as possible', async (t) => {
  const device = await startDevice(t);
  const hub = await start(t, {
    tcp: place(device.port),
    every: '10s',
    parameters: {
      'reg/{n:1..100}': { holding: 100 },
      temperature: { input: 235, as: 'i16', scale: 0.1, unit: '°C' },
      big: { holding: 10, as: 'u32' },
      swapped: { holding: 10, as: 'i32', wordOrder: 'low-first' },
      text: { holding: 200, as: 'text', length: 3 },
      bit: { holding: 5, bit: 2 },
      none: { holding: 7, unknownIf: 7 },
      'lamp/{n:1..8}': { coil: 16 },
      contact: { discrete: 3 },
    },
  });
  await has(hub, 'contact', false);
  t.deepEqual([value(hub, 'reg/1'), value(hub, 'reg/100')], [100, 199]);
  t.is(value(hub, 'temperature'), 23.5);
  t.is(value(hub, 'big'), 10 * 65_536 + 11);
  t.is(value(hub, 'swapped'), 11 * 65_536 + 10);
  t.is(value(hub, 'text'), '', 'the first byte is 0');
  t.true(value(hub, 'bit'));
  t.is(value(hub, 'none'), undefined);
  t.deepEqual(
    [1, 2, 5].map((n) => value(hub, `lamp/${n}`)),
    [true, false, true],
  );
  t.is(statusOf(hub, 'it').wire?.framesOut, 5, 'one read for each table, and two for holding registers');
});

test('a written value is confirmed by the device, and its cause is the write', async (t) => {
  const device = await startDevice(t);
  const hub = await start(t, {
    tcp: place(device.port),
    parameters: {
      level: { holding: 10, as: 'f32', min: -100, max: 100 },
      'out/{n:1..3}': { holding: 20, scale: 0.5 },
      lamp: { coil: 2 },
      bit: { holding: 5, bit: 3 },
      other: { holding: 5, bit: 4 },
      name: { holding: 30, as: 'text', length: 4 },
      go: { holding: 60, access: 'write-only' },
      quick: { holding: 61, confirm: 'answer' },
    },
  });
  hub.turn(() => {
    hub.write('it/level', 12.5, writer);
    for (const n of [1, 2, 3]) hub.write(`it/out/${n}`, n + 0.6, writer);
    hub.write('it/lamp', true, writer);
    hub.write('it/bit', true, writer);
    hub.write('it/other', true, writer);
    hub.write('it/name', 'pump', writer);
    hub.write('it/go', 7, writer);
    hub.write('it/quick', 8, writer);
  });
  t.is(hub.find('it/level')!.wanted?.value, 12.5);
  for (const id of ['level', 'out/1', 'out/2', 'out/3', 'lamp', 'bit', 'other', 'name', 'quick'])
    await confirmed(hub, id);
  t.is(hub.find('it/level')!.lastChange!.cause!.origin.name, 'spec');
  t.deepEqual(
    ['level', 'out/1', 'out/3', 'lamp', 'bit', 'other', 'name', 'quick'].map((id) => value(hub, id)),
    [12.5, 1.5, 3.5, true, true, true, 'pump', 8],
    'with the resolution of the registers',
  );
  const writes = await device.written();
  t.true(writes.includes(`5 ${5 | 8 | 16}`), 'two bits in one write, the others kept');
  t.true(writes.includes('60 7'));
  t.throws(() => hub.write('it/level', 101, writer), { message: /expected a number from -100 to 100, got 101/ });
  t.throws(() => hub.write('it/out/1', 40_000, writer), { message: /expected a number from 0 to 32767.5, got 40000/ });
  t.throws(() => hub.write('it/name', 'a long name', writer), { message: /at most 8 Latin-1 characters/ });
});

test('an address that does not exist is reported, and costs its neighbours nothing', async (t) => {
  const device = await startDevice(t);
  const hub = await startTestHub(t, {
    connections: {
      it: {
        type: 'modbus',
        ...{ tcp: place(device.port), every: 50 },
        parameters: { 'near/{n:1..10}': { holding: 890 }, missing: { holding: 903 }, far: { holding: 10 } },
      },
    },
  });
  await eventually(() => /illegal data address/.test(statusOf(hub, 'it').reason ?? ''), 'the reason');
  t.is(
    statusOf(hub, 'it').reason,
    'holding register 903 of unit 1: illegal data address: the device has no such address (exception 2)',
  );
  await has(hub, 'near/10', 899);
  t.is(value(hub, 'far'), 10);
  t.false(isStale(hub, 'near/1'));
  hub.write('it/near/1', 5, writer);
  await confirmed(hub, 'near/1');
});

test('what a device refuses, or takes later, is no secret: refused, busy, slow', async (t) => {
  const device = await startDevice(t);
  const hub = await start(t, {
    tcp: place(device.port),
    parameters: { limited: { holding: 800 }, busy: { holding: 801 }, slow: { holding: 802 } },
  });
  hub.write('it/limited', 101, writer);
  const refused = hub.whenConfirmed(hub.find('it/limited')!, 30_000);
  await t.throwsAsync(refused, { message: /illegal data value: the device does not accept the value \(exception 3\)/ });
  t.is(value(hub, 'limited'), 800);
  hub.write('it/busy', 5, writer);
  await confirmed(hub, 'busy');
  hub.write('it/slow', 6, writer);
  await confirmed(hub, 'slow');
  t.deepEqual([value(hub, 'busy'), value(hub, 'slow')], [5, 6]);
});

test('a device that is killed leaves stale values, and is read again when it is back', async (t) => {
  const device = await startDevice(t);
  const hub = await start(t, { tcp: place(device.port), parameters: { 'reg/{n:1..3}': { holding: 10 } } });
  device.child.kill('SIGKILL');
  await eventually(() => isStale(hub, 'reg/1'), 'stale values');
  t.is(statusOf(hub, 'it').state, 'degraded');
  t.is(value(hub, 'reg/3'), 12);
  t.throws(() => hub.write('it/reg/1', 1, writer), { code: 'unavailable' });
  const again = await startDevice(t, {}, device.port);
  again.set(12, 77);
  await isRunning(hub);
  await has(hub, 'reg/3', 77);
  t.false(isStale(hub, 'reg/1'));
  t.deepEqual(await again.written(), [], 'nothing is sent again');
});

test('a device that is stopped leaves a half-open link: its values are stale, and pending writes fail', async (t) => {
  const device = await startDevice(t);
  const hub = await start(t, { tcp: place(device.port), timeout: 200, parameters: { reg: { holding: 10 } } });
  await has(hub, 'reg', 10);
  device.child.kill('SIGSTOP');
  hub.write('it/reg', 11, writer);
  const pending = hub.whenConfirmed(hub.find('it/reg')!, 30_000);
  await t.throwsAsync(pending);
  await eventually(() => isStale(hub, 'reg'), 'stale values');
  t.regex(statusOf(hub, 'it').reason, /^127\.0\.0\.1:\d+: unit 1 does not answer within 0\.2 s$/);
  device.child.kill('SIGCONT');
  await isRunning(hub);
  await eventually(() => !isStale(hub, 'reg'), 'fresh values');
});

test('a unit that is missing behind a gateway makes only its own values stale', async (t) => {
  const device = await startDevice(t, { units: [1, 3] });
  const hub = await startTestHub(t, {
    connections: {
      it: {
        type: 'modbus',
        ...{ tcp: place(device.port), every: 50, timeout: 100 },
        parameters: { 'unit/{u:1..3}/reg/{n:1..2}': { holding: 10, unitId: '{u}' } },
      },
    },
  });
  await has(hub, 'unit/3/reg/2', 11);
  await has(hub, 'unit/1/reg/1', 10);
  await eventually(() => isStale(hub, 'unit/2/reg/1'), 'a stale unit');
  t.false(isStale(hub, 'unit/1/reg/1') || isStale(hub, 'unit/3/reg/2'));
  t.is(statusOf(hub, 'it').reason, 'unit 2 does not answer within 0.1 s');
  t.throws(() => hub.write('it/unit/2/reg/1', 1, writer), { code: 'unavailable' });
  hub.write('it/unit/3/reg/1', 5, writer);
  await confirmed(hub, 'unit/3/reg/1');
  const before = Date.now();
  device.set(11, 99);
  await has(hub, 'unit/1/reg/2', 99);
  t.true(Date.now() - before < 2000, 'the missing unit does not hold up the others');
});

test('a device at a serial line is read and written over RTU', async (t) => {
  const [ours, theirs] = await startLine(t);
  const device = await startDevice(t, { serial: theirs });
  const hub = await start(t, {
    serial: ours,
    parameters: { 'reg/{n:1..20}': { holding: 10 }, lamp: { coil: 4 }, f: { holding: 50, as: 'f32' } },
  });
  await has(hub, 'reg/20', 29);
  await has(hub, 'lamp', true);
  hub.write('it/reg/5', 500, writer);
  hub.write('it/f', 0.1, writer);
  hub.write('it/lamp', false, writer);
  await Promise.all(['reg/5', 'f', 'lamp'].map((id) => confirmed(hub, id)));
  t.is(value(hub, 'f'), 0.1);
  device.child.kill('SIGKILL');
  await eventually(() => isStale(hub, 'reg/1'), 'stale values');
  t.is(statusOf(hub, 'it').reason, 'unit 1 does not answer within 1 s');
  await startDevice(t, { serial: theirs });
  await isRunning(hub);
});

test('a server of jsmodbus is read and written', async (t) => {
  const sockets: Socket[] = [];
  const net = createServer((socket) => sockets.push(socket.on('error', () => {})));
  const { holding } = new jsmodbus.server.TCP(net);
  net.listen(0, '127.0.0.1');
  await once(net, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    net.close();
  });
  holding.writeUInt16BE(1234, 0);
  holding.writeFloatBE(-1.5, 4);
  const { port } = net.address() as { port: number };
  const hub = await start(t, {
    tcp: place(port),
    window: 4,
    parameters: { a: { holding: 0 }, f: { holding: 2, as: 'f32' }, far: { holding: 500 } },
  });
  await has(hub, 'f', -1.5);
  t.is(value(hub, 'a'), 1234);
  hub.write('it/f', 2.25, writer);
  hub.write('it/far', 9, writer);
  await confirmed(hub, 'f');
  await confirmed(hub, 'far');
  t.is(holding.readFloatBE(4), 2.25);
  t.is(holding.readUInt16BE(1000), 9);
});

const served = {
  level: { holding: 0, min: 0, max: 1000 },
  f: { holding: 1, as: 'f32' },
  bit: { holding: 3, bit: 1 },
  other: { holding: 3, bit: 0 },
  lamp: { coil: 0 },
  sensor: { input: 0, as: 'i16', scale: 0.1 },
};

test('mbpoll and jsmodbus read and write the parameters of a server', async (t) => {
  const port = await freePort();
  const hub = await start(t, { listen: port, parameters: served });
  hub.write('it/level', 321, writer);
  hub.write('it/sensor', -12.5, writer);
  hub.write('it/other', true, writer);
  const mbpoll = async (...args: string[]) =>
    (await run('mbpoll', ['-p', `${port}`, '-0', '-1', '-a', '1', '127.0.0.1', ...args])).stdout;
  t.regex(await mbpoll('-r', '0', '-t', '4'), /\[0\]:\s+321/);
  t.regex(await mbpoll('-r', '0', '-t', '3'), /\[0\]:\s+-125|\[0\]:\s+65411/);
  await mbpoll('-r', '0', '-t', '4', '500');
  await has(hub, 'level', 500);
  await mbpoll('-r', '1', '-t', '4:float', '-B', '1.5');
  await has(hub, 'f', 1.5);
  await mbpoll('-r', '0', '-t', '0', '1');
  await has(hub, 'lamp', true);
  const refused = await run('mbpoll', ['-p', `${port}`, '-0', '-1', '-r', '0', '-t', '4', '127.0.0.1', '2000']).catch(
    (error) => error,
  );
  t.regex(String(refused.stderr ?? refused), /Illegal data value/i);
  t.is(value(hub, 'level'), 500);

  const socket = connect(port, '127.0.0.1').on('error', () => {});
  t.teardown(() => socket.destroy());
  const client = new jsmodbus.client.TCP(socket, 1);
  await once(socket, 'connect');
  const { response } = await client.readHoldingRegisters(0, 4);
  t.deepEqual([...response.body.valuesAsArray], [500, 0x3fc0, 0, 1]);
  await client.writeMultipleRegisters(2, [0x0001, 0x0002]);
  await has(hub, 'bit', true);
  t.false(value(hub, 'other'));
  t.true(Math.abs((value(hub, 'f') as number) - 1.5) < 1e-6, 'half of a value keeps the other half');
  const missing = await client.readHoldingRegisters(100, 2).catch((error: Error) => error);
  t.regex(String((missing as Error).message), /ILLEGAL DATA ADDRESS/);
  t.is(hub.find('it/lamp')!.lastChange!.origin.name, 'it');
});

test('mbpoll reads and writes a server at a serial line', async (t) => {
  const [ours, theirs] = await startLine(t);
  const hub = await start(t, { serial: ours, server: true, unitId: 7, parameters: served });
  hub.write('it/level', 42, writer);
  const mbpoll = async (...args: string[]) =>
    (await run('mbpoll', ['-m', 'rtu', '-a', '7', '-0', '-1', theirs, ...args])).stdout;
  t.regex(await mbpoll('-r', '0', '-t', '4'), /\[0\]:\s+42/);
  await mbpoll('-r', '0', '-t', '4', '43');
  await has(hub, 'level', 43);
  await t.throwsAsync(run('mbpoll', ['-m', 'rtu', '-a', '8', '-0', '-1', '-o', '0.2', theirs, '-r', '0']));
});

test('clients that send garbage, or too much, are refused; others are answered', async (t) => {
  const port = await freePort();
  const hub = await start(t, { listen: port, requestsPerSecond: 50, parameters: served });
  const bad = connect(port, '127.0.0.1').on('error', () => {});
  bad.write('GET / HTTP/1.1\r\n\r\n');
  await once(bad, 'close');
  const good = connect(port, '127.0.0.1').on('error', () => {});
  t.teardown(() => good.destroy());
  const request = Buffer.from('000100000006010300000001', 'hex');
  good.write(Buffer.concat(Array.from({ length: 200 }, () => request)));
  await eventually(() => refusedOf(hub) >= 100, 'refused requests');
  const chunks: Buffer[] = [];
  good.on('data', (bytes) => chunks.push(bytes));
  await eventually(() => {
    good.write(request);
    return Buffer.concat(chunks).includes(Buffer.from('0001000000050103020000', 'hex'));
  }, 'an answer');
  const wrong = ['2b', '0300000000', '03000000ff', '0500001234', '10000000020400', '0f0000ffff01ff', '03'].map((pdu) =>
    Buffer.concat([Buffer.from('00020000', 'hex'), Buffer.of(0, pdu.length / 2 + 1, 1), Buffer.from(pdu, 'hex')]),
  );
  await eventually(() => {
    good.write(Buffer.concat(wrong));
    return ['ab01', '8303', '8503', '9003', '8f03'].every((exception) =>
      Buffer.concat(chunks).includes(Buffer.from(`000200000003 01${exception}`.replace(' ', ''), 'hex')),
    );
  }, 'exceptions');
  t.is(statusOf(hub, 'it').state, 'running');
});

test('a device that answers nonsense is reported, and its neighbours are as before', async (t) => {
  const sockets: Socket[] = [];
  const nonsense = createServer((socket) => {
    sockets.push(socket.on('error', () => {}));
    let count = 0;
    socket.on('data', (bytes: Buffer) => {
      const id = bytes.subarray(0, 2);
      const answers = [
        Buffer.concat([id, Buffer.from('000000050104020000', 'hex')]), // another function
        Buffer.concat([Buffer.from('ffff', 'hex'), Buffer.from('00000005010302abcd', 'hex')]), // another request
        Buffer.concat([id, Buffer.from('00000003010300', 'hex')]).subarray(0, 9), // no data
        Buffer.from('not modbus at all'),
      ];
      socket.write(answers[count++ % answers.length]!);
    });
  });
  nonsense.listen(0, '127.0.0.1');
  await once(nonsense, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    nonsense.close();
  });
  const device = await startDevice(t);
  const { port } = nonsense.address() as { port: number };
  const parameters = { reg: { holding: 10 } };
  const hub = await startTestHub(t, {
    connections: {
      bad: { type: 'modbus', tcp: place(port), every: 50, timeout: 100, parameters },
      it: { type: 'modbus', tcp: place(device.port), every: 50, parameters },
    },
  });
  await eventually(() => statusOf(hub, 'bad').state === 'degraded', 'a degraded connection');
  await eventually(() => (statusOf(hub, 'bad').wire?.refused ?? 0) >= 2, 'refused frames');
  await isRunning(hub);
  t.is(value(hub, 'reg'), 10);
  t.is(hub.find('bad/reg')!.value, undefined);
});

test('with simulate there is no device, and a write is confirmed immediately', async (t) => {
  const hub = await start(t, { tcp: '10.255.255.1:502', simulate: true, parameters: { reg: { holding: 1 } } });
  hub.write('it/reg', 5, writer);
  t.is(value(hub, 'reg'), 5);
  t.is(hub.find('it/reg')!.wanted, undefined);
});
