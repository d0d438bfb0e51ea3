// What abuses are made with: connections that are given bytes for as long as they take them.

import { connect, type Socket } from 'node:net';
import { openWebSocket } from '../../support/load/web-socket.ts';

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
