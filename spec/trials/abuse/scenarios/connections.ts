// What connections cost that hardly say anything: those that come and go, those that never finish what they say, and too many.

import { connect, type Socket } from 'node:net';
import { keepOpen, keepWebSocketOpen } from '../pour.ts';
import type { Scenario } from '../scenario.ts';

const comers = 50;
const tricklers = 1000;
const trickleEveryMs = 100;
const writers = 500;
/** The head of a masked text frame of 4 MiB (RFC 6455 section 5.2). */
const longFrameHead = Buffer.of(0x81, 0xff, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0);
/** The largest message that is read at all, but for its last byte. */
const unfinishedFrame = Buffer.concat([
  Buffer.of(0x81, 0xff, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0),
  Buffer.alloc(65_535),
]);
const mostClients = 200;

export const churn: Scenario = {
  about: '50 connections open a WebSocket, subscribe to everything and are cut, again and again',
  limits: [],
  attack(port) {
    for (let count = 0; count < comers; count++) comeAndGo(port);
  },
};

export const trickle: Scenario = {
  about: '1,000 connections send a request byte by byte, half of them a head and half of them a body',
  limits: [],
  attack(port) {
    const head = 'GET /parameters/desk/lamp HTTP/1.1\r\nHost: localhost\r\nX-Filler: ';
    const body =
      'POST /update HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n';
    for (let count = 0; count < tricklers; count++)
      keepOpen(port, (socket) => {
        socket.write(count % 2 === 0 ? head : body);
        const timer = setInterval(() => socket.write('x'), trickleEveryMs);
        socket.on('close', () => clearInterval(timer));
      });
  },
};

export const longFrames: Scenario = {
  about: '500 sockets begin a message of 4 MiB, again and again',
  limits: ['frameBytes'],
  attack(port) {
    for (let count = 0; count < writers; count++)
      keepWebSocketOpen(
        port,
        '/ws',
        (socket) => void socket.write(Buffer.concat([longFrameHead, Buffer.alloc(65_536)])),
      );
  },
};

export const unfinishedFrames: Scenario = {
  about: '500 sockets send a message of 64 KiB but for its last byte, and wait',
  limits: [],
  attack(port) {
    for (let count = 0; count < writers; count++)
      keepWebSocketOpen(port, '/ws', (socket) => void socket.write(unfinishedFrame));
  },
};

export const manyClients: Scenario = {
  about: 'more and more WebSockets of one address, 500 at a time',
  limits: ['clientsPerAddress'],
  settings: { limits: { clientsPerAddress: mostClients } },
  attack(port) {
    for (let count = 0; count < writers; count++) keepWebSocketOpen(port, '/ws', () => {});
  },
};

/** Opens a socket, and cuts it as soon as something has come. */
function comeAndGo(port: number): void {
  const socket: Socket = connect({ host: '127.0.0.1', port });
  socket.write(
    'GET /ws?snapshot=true HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      'Sec-WebSocket-Key: cGF0Y2hiYXkgYmVuY2ggLg==\r\nSec-WebSocket-Version: 13\r\n\r\n',
  );
  socket.once('data', () => socket.resetAndDestroy());
  socket.on('error', () => {});
  socket.on('close', () => setImmediate(comeAndGo, port));
}
