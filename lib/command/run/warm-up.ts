// Lets V8 compile the way of a change, from socket to socket, before the first client comes. Otherwise V8 would compile it in
// the first ten seconds of service, on cores that the hub and its clients need, and p99 latency would be twice as high.

import { EventEmitter, once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connectionTypes } from '../../connections/connection-types.ts';
import { checkFlowFiles } from '../../flow/check/check.ts';
import { Hub, type HubLog } from '../../hub.ts';
import { MistakeList } from '../../json5/mistake.ts';

/** Hubs run one after another: code that V8 compiles for the first one alone assumes that there is no other. */
const hubs = 3;
const rounds = 1000;
const changesPerRound = 10;
const deadlineMs = 500;
const endOfFrame = '}'.charCodeAt(0);
const closeFrame = Buffer.of(0x88, 0x80, 0, 0, 0, 0);

const flow = {
  connections: {
    api: { type: 'rest-api', port: 0, bindIp: '127.0.0.1', console: false },
    desk: { type: 'dummy', parameters: ['level,F', 'lamp,B', 'scene,S'] },
  },
};

/**
 * Runs hubs of its own for a quarter of a second, or about half a second on a busy machine, each with a client on this machine
 * that makes and hears changes. Errors: when nobody can listen on 127.0.0.1.
 */
export async function warmUp(): Promise<void> {
  const signal = AbortSignal.timeout(deadlineMs);
  try {
    for (let count = 0; count < hubs; count++) await runHub(signal);
  } catch (error) {
    if (!signal.aborted) throw error; // the machine is busy, nothing is wrong
  }
}

async function runHub(signal: AbortSignal): Promise<void> {
  let port = 0;
  const ignore = () => {};
  const noticePort = (data: object) => {
    if ('port' in data) port = data.port as number;
  };
  const log: HubLog = { debug: ignore, info: noticePort, warn: ignore, error: ignore, child: () => log };
  const file = { name: 'warm-up', folder: '.', data: flow, positionOf: () => undefined };
  const hub = await Hub.run(checkFlowFiles([file], connectionTypes, new MistakeList()), { log });
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  socket.on('error', () => {}); // it may break at any time, also while nobody waits for it
  try {
    await exchangeChanges(socket, signal);
    socket.end(closeFrame);
    await once(socket, 'close', { signal }); // then the hub has no client and stops at once
  } finally {
    socket.destroy();
    if (!socket.closed) await once(socket, 'close');
    await hub.stop();
  }
}

/** Makes changes as a plain client does; a round begins when all changes of the round before have come back. */
async function exchangeChanges(socket: Socket, signal: AbortSignal): Promise<void> {
  socket.write(
    'GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: d2FybS11cCBvZiBhIGh1Yg==\r\n\r\n',
  );
  await once(socket, 'data', { signal });
  const finished = new EventEmitter();
  let [sent, back] = [0, 0];
  const sendRound = () => {
    const frames = Array.from({ length: changesPerRound }, () => changeFrame(sent++));
    socket.write(Buffer.concat(frames));
  };
  socket.on('data', (bytes) => {
    for (const byte of bytes) if (byte === endOfFrame) back++;
    if (back < sent) return;
    if (sent < rounds * changesPerRound) sendRound();
    else finished.emit('end');
  });
  socket.once('close', () => finished.emit('end')); // it broke: what is compiled by now is enough
  sendRound();
  await once(finished, 'end', { signal });
}

/** A text frame as clients send it (RFC 6455), masked with zeros: mostly numbers, each of them a change. */
function changeFrame(number: number): Buffer {
  const payload = Buffer.from(JSON.stringify(changeOf(number)));
  return Buffer.concat([Buffer.of(0x81, 0x80 | payload.length, 0, 0, 0, 0), payload]);
}

function changeOf(number: number): { p: string; v: string } {
  const tens = Math.floor(number / 10);
  if (number % 10 === 8) return { p: 'desk/lamp', v: `${tens % 2}` };
  if (number % 10 === 9) return { p: 'desk/scene', v: `scene ${tens}` };
  return { p: 'desk/level', v: `${number / 1000}` };
}
