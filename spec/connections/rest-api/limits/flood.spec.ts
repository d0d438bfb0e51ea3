// Clients send as fast as they can. Meanwhile the hub serves their neighbours, and stops when it is told to. A client that floods is
// closed with 4008 and named in the log. One that is at most 64 KiB ahead is never closed.

import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { eventually } from '../../../support/deadline.ts';
import { ask, openWire, request } from '../../../support/http.ts';
import { api, expectQuietLog, startTestHub } from '../../../support/hub.ts';
import { shared } from '../../../support/shared.ts';
import { handshake, opcodes, openClient } from '../../../support/sockets/socket.ts';
import { startHubProcess } from '../../../support/system/hub-process.ts';

const desk = { type: 'dummy', parameters: ['lamp,B', 'i,I', 'text'] };
const flow = { connections: { api, desk } };

/** A masked frame with a mask of zeros. */
function frame(opcode: number, text: string): Buffer {
  return Buffer.concat([Buffer.of(0x80 | opcode, 0x80 | text.length), Buffer.alloc(4), Buffer.from(text)]);
}

const many = (count: number, piece: Buffer) => Buffer.concat(Array.from({ length: count }, () => piece));
const upgrade = request('GET /ws', { headers: handshake() });
const upgradeV1 = request('GET /ws', { headers: { ...handshake(), 'sec-websocket-protocol': 'patchbay.v1' } });
/** They read their flow again at SIGHUP alone. */
const share = () => shared((t) => startHubProcess(t, flow, { args: ['--no-watch'] }));
const hubs = { backlogBytes: share(), pipelinedRequests: share() };
const floods: readonly (readonly [what: string, limit: keyof typeof hubs, begin: Buffer | undefined, piece: Buffer])[] =
  [
    ['plain messages', 'backlogBytes', upgrade, frame(1, '{"p":"desk/text","v":"x"}')],
    ['plain messages that make no sense', 'backlogBytes', upgrade, frame(1, '{"p":"desk/none","v":1}')],
    ['v1 pings', 'backlogBytes', upgradeV1, frame(1, '{"ping":1}')],
    ['ping frames', 'backlogBytes', upgrade, frame(9, '')],
    ['pong frames', 'backlogBytes', upgrade, frame(10, '')],
    ['pipelined requests', 'pipelinedRequests', undefined, request('GET /parameters/desk/none')],
    ['pipelined refusals', 'pipelinedRequests', undefined, request('GET /', { headers: { host: 'elsewhere' } })],
  ];

test.serial(
  '40,000 requests of a long value without a read answer cost the hub almost nothing, and the client its connection',
  async (t) => {
    const hub = await hubs.pipelinedRequests();
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
    socket.write(many(40_000, one));
    await hub.logged(/^client 127\.0\.0\.1 exceeded the limit (unreadAnswers|pipelinedRequests) /);
    t.is((await ask(t, hub.port, 'GET /parameters/desk/lamp')).status, 503);
    const grown = residentBytes(hub.pid) - before;
    t.true(grown < 50 * 1024 * 1024, `${Math.round(grown / 1024 / 1024)} MiB more`);
  },
);

test.serial(
  'messages that a client sent while the hub was stopped are accepted, and the client is not closed',
  async (t) => {
    const hub = await hubs.backlogBytes();
    const wire = await openWire(t, hub.port);
    wire.send(request('GET /ws?filter=nothing', { headers: handshake() }));
    t.is((await wire.answer()).status, 101);
    const total = 50_000;
    const sent = Array.from({ length: total }, (_, index) => frame(opcodes.text, `{"p":"desk/i","v":${index + 1}}`));
    hub.process.kill('SIGSTOP');
    wire.send(Buffer.concat(sent));
    await after(500); // what fits into the buffers of the system has come by then
    hub.process.kill('SIGCONT');
    wire.send(frame(opcodes.ping, ''));
    const [firstByte] = await wire.take(1);
    t.is(firstByte, 0x80 | opcodes.pong, 'the answer to a ping, or the end');
    await eventually(async () => (await hub.get('parameters/desk/i')) === `${total}`, 'all that was sent');
  },
);

for (const [index, [what, limit, begin, piece]] of floods.entries())
  test.serial(`a flood of ${what}: others are served, the log names the client, and signals are handled`, async (t) => {
    const hub = await hubs[limit]();
    const address = `127.0.1.${index + 1}`;
    flood(t, hub.port, address, begin, piece);
    await hub.logged(new RegExp(`^client ${address.replaceAll('.', '\\.')} exceeded the limit ${limit} `));
    await expectServed(t, hub.port);
    await writeFile(
      join(hub.folder, 'flow.json5'),
      JSON.stringify({ connections: { ...flow.connections, [`extra-${index}`]: desk } }),
    );
    hub.process.kill('SIGHUP');
    const isThere = async () => (await ask(t, hub.port, `GET /parameters/extra-${index}/lamp`)).status !== 404;
    await eventually(isThere, 'what the flow has from now on');
  });

for (const [limit, hubOf] of Object.entries(hubs))
  test.serial(`SIGTERM is handled in a flood beyond ${limit}`, async (t) => {
    const hub = await hubOf();
    const [, , begin, piece] = floods.find((flood) => flood[1] === limit)!;
    flood(t, hub.port, '127.0.2.1', begin, piece);
    await hub.logged(new RegExp(`^client 127\\.0\\.2\\.1 exceeded the limit ${limit} `));
    await expectServed(t, hub.port);
    hub.process.kill('SIGTERM');
    t.is((await hub.ended()).status, 0);
  });

async function expectServed(t: ExecutionContext, port: number): Promise<void> {
  for (let count = 0; count < 5; count++)
    t.is((await ask(t, port, `GET /update?parameter=desk/i&value=${count}`)).text, 'OK');
}

/** Sends a piece again and again, on a connection that is opened again whenever it ends. */
function flood(t: ExecutionContext, port: number, localAddress: string, begin: Buffer | undefined, piece: Buffer) {
  const pieces = many(10_000, piece);
  let isOver = false;
  const open = () => {
    if (isOver) return;
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    const write = () => {
      if (!socket.destroyed && socket.write(pieces)) setImmediate(write);
    };
    socket.on('error', () => {});
    socket.on('close', () => setTimeout(open, 10));
    socket.on('data', () => {});
    socket.on('drain', () => setImmediate(write));
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

test('a flooding client gets bye, and is closed with 4008', async (t) => {
  const hub = await startTestHub(t, {
    connections: { ...flow.connections, api: { ...api, limits: { backlogBytes: 65_536 } } },
  });
  const wire = await openWire(t, hub.port);
  wire.send(upgradeV1);
  t.is((await wire.answer()).status, 101);
  wire.send(many(40_000, frame(opcodes.text, '{"ping":1}')));
  const received = await wire.closed();
  const close = received.lastIndexOf(0x80 | opcodes.close);
  t.is(received.readUInt16BE(close + 2), 4008);
  const bye = received.subarray(received.lastIndexOf('{"bye"'), close).toString();
  t.like(JSON.parse(bye), { bye: { code: 4008, retry: true } });
});

test('README: a client with at most 64 KiB in transit is never ended, and all its messages are processed in order', async (t) => {
  const hub = await startTestHub(t, flow);
  const client = await openClient(t, hub.port);
  const total = 10_000;
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

test('a pipelining client that reads is answered in order', async (t) => {
  const hub = await startTestHub(t, flow);
  hub.write('desk/text', 'x'.repeat(1000), { kind: 'client', name: 'spec' });
  const wire = await openWire(t, hub.port);
  const depth = 16;
  const one = request('GET /parameters/desk/text');
  for (let count = 0; count < depth; count++) wire.send(one);
  for (let count = 0; count < 1000; count++) {
    const { text } = await wire.answer();
    if (text.length !== 1000) t.fail(`answer ${count} has ${text.length} bytes`);
    wire.send(one);
  }
  expectQuietLog(t, hub);
});

function residentBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}
