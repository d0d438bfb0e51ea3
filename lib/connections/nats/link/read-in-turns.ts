// The client library reads all that a socket has, message by message, before anything else goes on. So the socket is paused once that has
// taken some milliseconds of a round of the event loop, and read on in the next one.

import type { Socket } from 'node:net';
import type { NatsConnection } from '@nats-io/transport-node';

/** How long a round of the event loop reads at most, but for what is read already. */
const roundMs = 10;

/** The library shows its socket to nobody, and has no other way to be slowed down. */
export function socketOf(connection: NatsConnection): Socket | undefined {
  const { protocol } = connection as { protocol?: { transport?: { socket?: Socket } } };
  return protocol?.transport?.socket;
}

export function readInTurns(connection: NatsConnection): void {
  const socket = socketOf(connection);
  let endMs: number | undefined;
  const begin = () => {
    endMs = undefined;
    if (socket?.isPaused()) socket.resume();
  };
  socket?.on('data', () => {
    const nowMs = performance.now();
    if (endMs === undefined) {
      endMs = nowMs + roundMs;
      setImmediate(begin);
    } else if (nowMs >= endMs && !socket.isPaused()) socket.pause();
  });
}
