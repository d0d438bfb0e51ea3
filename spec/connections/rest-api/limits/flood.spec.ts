// Clients send as fast as they can. Meanwhile the hub serves their neighbours, and stops when it is told to. A client that floods is
// closed with 4008 and named in the log. One that is at most 64 KiB ahead is never closed.

import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../../support/deadline.ts';
import { ask, openWire, request } from '../../../support/http.ts';
import { api, expectQuietLog, startTestHub } from '../../../support/hub.ts';
import { handshake, opcodes, openClient, openRawClient } from '../../../support/sockets/socket.ts';
import { startHubProcess } from '../../../support/system/hub-process.ts';

const flow = { connections: { api, desk: { type: 'dummy', parameters: ['lamp,B', 'i,I', 'text'] } } };

/** A masked frame with a mask of zeros. */
function frame(opcode: number, text: string): Buffer {
  return Buffer.concat([Buffer.of(0x80 | opcode, 0x80 | text.length), Buffer.alloc(4), Buffer.from(text)]);
}

const upgrade = request('GET /ws', { headers: handshake() });
const upgradeV1 = request('GET /ws', { headers: { ...handshake(), 'sec-websocket-protocol': 'patchbay.v1' } });
const floods: readonly (readonly [what: string, limit: string, begin: Buffer | undefined, piece: Buffer])[] = [
  ['plain messages', 'backlogBytes', upgrade, frame(1, '{"p":"desk/text","v":"x"}')],
  ['plain messages that make no sense', 'backlogBytes', upgrade, frame(1, '{"p":"desk/none","v":1}')],
  ['v1 pings', 'backlogBytes', upgradeV1, frame(1, '{"ping":1}')],
  ['ping frames', 'backlogBytes', upgrade, frame(9, '')],
  ['pong frames', 'backlogBytes', upgrade, frame(10, '')],
  ['pipelined requests', 'pipelinedRequests', undefined, request('GET /parameters/desk/none')],
  ['pipelined refusals', 'pipelinedRequests', undefined, request('GET /', { headers: { host: 'elsewhere' } })],
];

for (const [what, limit, begin, piece] of floods)
  test.serial(`a flood of ${what}: others are served, the log names who it was, SIGTERM is heard`, async (t) => {
    const hub = await startHubProcess(t, flow);
    const pieces = Buffer.concat(Array.from({ length: 10_000 }, () => piece));
    flood(t, hub.port, begin, pieces);
    await hub.logged(new RegExp(`^client 127\\.0\\.0\\.1 went past the limit ${limit} `));
    for (let count = 0; count < 5; count++) {
      const { text } = await ask(t, hub.port, `GET /update?parameter=desk/i&value=${count}`);
      t.is(text, 'OK');
    }
    hub.process.kill('SIGTERM');
    t.is((await hub.ended()).status, 0);
  });

/** Sends the pieces again and again, on a connection that is opened again whenever it ends. */
function flood(t: ExecutionContext, port: number, begin: Buffer | undefined, pieces: Buffer): void {
  let isOver = false;
  const open = () => {
    if (isOver) return;
    const socket = connect(port, '127.0.0.1');
    const write = () => {
      while (!socket.destroyed && socket.write(pieces)) {}
    };
    socket.on('error', () => {});
    socket.on('close', () => setTimeout(open, 10));
    socket.on('data', () => {});
    socket.on('drain', write);
    socket.on('connect', () => {
      if (begin === undefined) write();
      else socket.write(begin, write);
    });
    t.teardown(() => socket.destroy());
  };
  t.teardown(() => {
    isOver = true;
  });
  open();
}

test('who floods is told bye, and closed with 4008', async (t) => {
  const hub = await startTestHub(t, {
    connections: { ...flow.connections, api: { ...api, limits: { backlogBytes: 65_536 } } },
  });
  const client = await openRawClient(t, hub.port, '', undefined, { 'sec-websocket-protocol': 'patchbay.v1' });
  for (let count = 0; count < 40_000; count++) client.send(opcodes.text, '{"ping":1}');
  for (let bye = ''; ; ) {
    const { opcode, payload } = await client.frames.next('the close frame');
    if (opcode === opcodes.text && payload.includes('bye')) bye = payload.toString();
    if (opcode !== opcodes.close) continue;
    t.is(payload.readUInt16BE(0), 4008);
    t.like(JSON.parse(bye), { bye: { code: 4008, retry: true } });
    break;
  }
});

test('README: a client with at most 64 KiB under way is never ended, and all that it sends is taken in order', async (t) => {
  const hub = await startTestHub(t, flow);
  const client = await openClient(t, hub.port);
  const total = 30_000;
  const windowMessages = 2000; // of 31 bytes on the wire
  let sent = 0;
  for (let heard = 0; heard < total; heard++) {
    while (sent < total && sent - heard < windowMessages) client.send({ p: 'desk/i', v: sent++ });
    const { v } = await client.next();
    if (v !== String(heard)) t.fail(`expected ${heard}, got ${v}`);
  }
  t.is(sent, total);
  expectQuietLog(t, hub);
});

test.serial('what a client has sent while the hub stood still is taken, and the client is not closed', async (t) => {
  const hub = await startHubProcess(t, flow);
  const client = await openRawClient(t, hub.port, '?filter=nothing');
  hub.process.kill('SIGSTOP');
  const total = 50_000;
  for (let count = 1; count <= total; count++) client.send(opcodes.text, `{"p":"desk/i","v":${count}}`);
  await after(500); // what fits into the buffers of the system has come by then
  hub.process.kill('SIGCONT');
  client.send(opcodes.ping, '');
  const { opcode } = await client.frames.next('the answer to a ping, or the end');
  t.is(opcode, opcodes.pong);
  await eventually(async () => (await hub.get('parameters/desk/i')) === `${total}`, 'all that was sent');
});

test('who pipelines and reads is answered in order', async (t) => {
  const hub = await startTestHub(t, flow);
  hub.write('desk/text', 'x'.repeat(1000), { kind: 'client', name: 'spec' });
  const wire = await openWire(t, hub.port);
  const depth = 16;
  const one = request('GET /parameters/desk/text');
  for (let count = 0; count < depth; count++) wire.send(one);
  for (let count = 0; count < 3000; count++) {
    const { text } = await wire.answer();
    if (text.length !== 1000) t.fail(`answer ${count} has ${text.length} bytes`);
    wire.send(one);
  }
  expectQuietLog(t, hub);
});

test('40,000 requests of a long value of which no answer is read cost the hub next to nothing, and the connection', async (t) => {
  const hub = await startHubProcess(t, flow);
  const set = {
    headers: { 'content-type': 'application/json' },
    body: `{"parameter":"desk/text","value":"${'x'.repeat(60_000)}"}`,
  };
  t.is((await ask(t, hub.port, 'POST /update', set)).text, 'OK');
  const before = residentBytes(hub.pid);
  const socket = connect(hub.port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  socket.on('error', () => {});
  socket.pause();
  const one = request('GET /parameters/desk/text');
  socket.write(Buffer.concat(Array.from({ length: 40_000 }, () => one)));
  await hub.logged(/^client 127\.0\.0\.1 went past the limit (unreadAnswers|pipelinedRequests) /);
  t.is((await ask(t, hub.port, 'GET /parameters/desk/lamp')).status, 503);
  const grown = residentBytes(hub.pid) - before;
  t.true(grown < 50 * 1024 * 1024, `${Math.round(grown / 1024 / 1024)} MiB more`);
});

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}
