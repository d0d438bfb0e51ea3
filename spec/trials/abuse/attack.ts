// What abuses are made with: connections that are given bytes for as long as they take them, or that ask again as soon as they have
// been answered.

import { connect, type Socket } from 'node:net';
import { protocolName } from '../../../lib/wire/protocol.ts';
import { encodeClientText, openWebSocket } from '../../support/load/web-socket.ts';

const reopenAfterMs = 10;
const pouredBytes = 256 * 1024;

/** Opens a connection; it is opened again when it ends, unless `onceOnly`. `begin` is called each time. */
export function keepOpen(port: number, begin: (socket: Socket) => void, onceOnly = false): void {
  const socket = connect({ host: '127.0.0.1', port });
  socket.on('connect', () => begin(socket));
  socket.on('error', () => {});
  socket.on('close', () => {
    if (!onceOnly) setTimeout(keepOpen, reopenAfterMs, port, begin);
  });
}

/** The same for a WebSocket. What comes is read and forgotten. */
export function keepWebSocketOpen(
  port: number,
  path: string,
  begin: (socket: Socket) => void,
  protocol?: string,
): void {
  let isOver = false;
  const reopen = () => {
    if (isOver) return;
    isOver = true;
    setTimeout(keepWebSocketOpen, reopenAfterMs, port, path, begin, protocol);
  };
  openWebSocket(port, path, { onBytes: () => {}, onClose: reopen }, protocol).then((socket) => {
    socket.on('close', reopen);
    begin(socket);
  }, reopen);
}

/** Sends a piece again and again, as fast as the socket takes it. */
export function pour(socket: Socket, piece: Uint8Array): void {
  const times = Math.max(1, Math.floor(pouredBytes / piece.length));
  const bytes = Buffer.concat(Array.from({ length: times }, () => piece));
  const write = () => {
    while (!socket.destroyed && socket.write(bytes)) {}
  };
  socket.on('drain', write);
  write();
}

/** Opens so many HTTP connections, each of which asks for one path after the other, for ever; a header is a whole line. */
export function keepAsking(
  port: number,
  connections: number,
  pathOf: (number: number) => string,
  headersOf: (number: number) => readonly string[] = () => [],
): void {
  let number = 0;
  for (let count = 0; count < connections; count++)
    keepOpen(port, (socket) => {
      const ask = () => {
        const lines = [`GET ${pathOf(number)} HTTP/1.1`, 'Host: localhost', ...headersOf(number++)];
        socket.write(`${lines.join('\r\n')}\r\n\r\n`);
      };
      let end = Buffer.alloc(0);
      socket.on('data', (chunk: Buffer) => {
        end = Buffer.concat([end, chunk.subarray(-8)]).subarray(-8);
        if (isAnswered(chunk, end)) ask();
      });
      ask();
    });
}

/** Whether an answer has come to its end: the last chunk of a stream, or a whole body, which ends a line here. */
function isAnswered(chunk: Buffer, end: Buffer): boolean {
  if (end.includes('0\r\n\r\n')) return true;
  return chunk.toString('latin1', 0, 2000).includes('Content-Length') && end.at(-1) === 0x0a;
}

/** Opens so many sockets of patchbay.v1, each of which sends the next message when the last has been answered. */
export function keepSending(
  port: number,
  sockets: number,
  messageOf: (number: number) => string,
  isAnswer: (text: string) => boolean,
): void {
  let number = 0;
  const open = () => {
    let isOver = false;
    const reopen = () => {
      if (!isOver) setTimeout(open, reopenAfterMs);
      isOver = true;
    };
    let send = () => {};
    const onBytes = (bytes: Buffer, length: number) => {
      if (isAnswer(bytes.toString('latin1', 0, length))) send();
    };
    openWebSocket(port, '/ws', { onBytes, onClose: reopen }, protocolName).then((socket) => {
      socket.on('close', reopen);
      send = () => void socket.write(encodeClientText(messageOf(number++)));
      send();
    }, reopen);
  };
  for (let count = 0; count < sockets; count++) open();
}
