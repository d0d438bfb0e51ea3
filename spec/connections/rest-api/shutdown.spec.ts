// When a hub ends (D-29, D-15), every client gets close code 1001. The process is gone within two seconds with exit status 0, whatever
// clients do meanwhile.

import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { within } from '../../support/deadline.ts';
import { ask, openWire, request } from '../../support/http.ts';
import { api, expectQuietLog, portsOf, startTestHub } from '../../support/hub.ts';
import { handshake, opcodes, openClient, openRawClient } from '../../support/sockets/socket.ts';
import { startHubProcess } from '../../support/system/hub-process.ts';
import { slowness } from '../../support/system/machine.ts';
import { freePort, isListening } from '../../support/system/port.ts';

const parameters = ['lamp,B,true', 'text', 'mark,I'];

const startProcess = (t: ExecutionContext) =>
  startHubProcess(t, {
    connections: {
      api: { ...api, documentRoot: '.' },
      desk: { type: 'dummy', parameters },
      clock: { type: 'timer', timers: [100_000], pulses: [{ interval: 20 }] },
    },
  });

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  test(`D-29: after ${signal} clients get 1001 and the process ends with status 0 within two seconds`, async (t) => {
    const hub = await startProcess(t);
    const clients = await Promise.all(Array.from({ length: 40 }, () => openClient(t, hub.port, '?snapshot=true')));
    const idle = await openWire(t, hub.port);
    idle.send(request('GET /parameters/desk/lamp'));
    await idle.answer();
    await ask(t, hub.port, 'GET /update?parameter=clock/timer/1/start&value=x');
    const before = slowness();
    const start = performance.now();
    hub.process.kill(signal);
    for (const client of clients)
      t.deepEqual(await client.closed(), { code: 1001, reason: 'the hub is shutting down' });
    await idle.closed();
    const { status, signal: killedBy, output, errors } = await hub.ended();
    const tookMs = (performance.now() - start) / Math.max(before, slowness());
    t.true(tookMs < 2000, `${tookMs} ms`);
    t.is(status, 0);
    t.is(killedBy, null);
    t.is(errors, '');
    const lines = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg);
    t.deepEqual(lines.slice(-2), [`stopping: ${signal}`, 'stopped']);
    t.false(await isListening(hub.port));
  });

test('D-29: clients that do not read, or are in the middle of a request, do not delay the hub', async (t) => {
  const hub = await startProcess(t);
  const file = join(hub.folder, 'big.bin');
  await writeFile(file, '');
  await truncate(file, 32 * 1024 * 1024);
  const reader = await openClient(t, hub.port, '?filter=mark');
  const stalled = await openRawClient(t, hub.port, '?filter=text');
  stalled.pause();
  for (let mark = 5; mark > 0; mark--) {
    for (let count = 0; count < 30; count++)
      reader.send({ p: 'desk/text', v: `${mark} ${count} ${'x'.repeat(60_000)}` });
    reader.send({ p: 'desk/mark', v: mark });
    t.deepEqual(await reader.next(), { p: 'desk/mark', v: String(mark) });
  }
  const download = await openWire(t, hub.port);
  download.send(request('GET /big.bin'));
  await within(new Promise((resolve) => download.socket.once('data', resolve)), 'the first bytes');
  download.socket.pause();
  const half = await openWire(t, hub.port);
  half.send(request('POST /update', { headers: { 'content-type': 'application/json', 'content-length': '10' } }));
  t.is((await ask(t, hub.port, 'GET /parameters/desk/mark')).text, '1');
  const before = slowness();
  const start = performance.now();
  hub.process.kill('SIGTERM');
  t.is((await reader.closed()).code, 1001);
  await half.closed();
  const { status, errors } = await hub.ended();
  const tookMs = (performance.now() - start) / Math.max(before, slowness());
  t.true(tookMs < 2000, `${tookMs} ms`);
  t.is(status, 0);
  t.is(errors, '');
});

test('D-29: a second signal ends the process immediately', async (t) => {
  const hub = await startProcess(t);
  await openClient(t, hub.port);
  hub.process.kill('SIGINT');
  await hub.shows(/stopping: SIGINT/);
  hub.process.kill('SIGINT');
  const { status } = await hub.ended();
  t.true(status === 130 || status === 0);
});

test('D-19: a hub that is stopped in process closes all its sockets, and its ports are free immediately', async (t) => {
  const ports = [await freePort(), await freePort()];
  const flow = {
    connections: Object.fromEntries(ports.map((port, index) => [`api-${index}`, { ...api, port }])),
  };
  const hub = await startTestHub(t, flow);
  const clients = await Promise.all(ports.map((port) => openRawClient(t, port)));
  const wires = await Promise.all(ports.map((port) => openWire(t, port)));
  await hub.stop();
  for (const client of clients) {
    const frame = await client.frames.next();
    t.is(frame.opcode, opcodes.close);
    t.is(frame.payload.readUInt16BE(), 1001);
    await client.closed();
  }
  await within(Promise.all(wires.map((wire) => wire.closed())), 'idle connections being closed', 2000);
  for (const port of ports) t.false(await isListening(port));
  expectQuietLog(t, hub);
  const again = await startTestHub(t, flow);
  t.deepEqual(portsOf(again), ports);
});

test('D-29: a handshake during the stop of a hub is refused, and nobody is cut without a goodbye', async (t) => {
  const hub = await startTestHub(t, { connections: { api, desk: { type: 'dummy', parameters } } });
  const first = await openRawClient(t, hub.port);
  const late = await Promise.all(Array.from({ length: 20 }, () => openWire(t, hub.port)));
  for (const wire of late) {
    wire.send(request('GET /hub/health'));
    await wire.answer(); // the hub has taken the connection: the kernel cuts those that wait for it
  }
  const stopped = hub.stop();
  const subprotocol = { 'sec-websocket-protocol': 'patchbay.v1' };
  for (const [index, wire] of late.entries())
    wire.send(request('GET /ws', { headers: { ...handshake(), ...(index % 2 === 0 ? {} : subprotocol) } }));
  t.is((await first.frames.next()).opcode, opcodes.close);
  for (const wire of late) {
    const { status, headers, text } = await wire.answer();
    t.is(status, 503);
    t.is(headers['retry-after'], '1');
    t.is(text, '/ws: the hub is shutting down\n');
    await wire.closed();
  }
  await stopped;
  expectQuietLog(t, hub);
});

test('D-19: changes and requests during the stop of a hub reach nobody and do no harm', async (t) => {
  const hub = await startTestHub(t, { connections: { api, desk: { type: 'dummy', parameters } } });
  const client = await openClient(t, hub.port);
  const wire = await openWire(t, hub.port);
  wire.send(request('GET /parameters/desk/lamp'));
  await wire.answer();
  const stopped = hub.stop();
  hub.write('desk/lamp', false, { kind: 'client', name: 'test' });
  client.send({ p: 'desk/lamp', v: true });
  wire.send(request('GET /hub/health'));
  await stopped;
  t.is((await client.closed()).code, 1001);
  t.is(client.frames.length, 0);
  await wire.closed();
  await t.notThrowsAsync(hub.stop());
});
