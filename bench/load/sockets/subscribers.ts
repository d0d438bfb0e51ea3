// Sockets that must all receive the same changes. Each has a receiver that checks everything as it arrives.

import type { Socket } from 'node:net';
import { messageOf } from '../../../lib/model/error.ts';
import type { Watch } from '../../../spec/support/load/watch.ts';
import { openWebSocket } from '../../../spec/support/load/web-socket.ts';
import type { Entry, Receiver } from '../dialects/dialect.ts';

export interface Subscribers {
  /** The first of the sockets, used for sending. */
  readonly publisher: Socket;
  /** The receivers, one per socket. */
  readonly receivers: readonly Receiver[];
}

/** How sockets subscribe once open, and what checks the data they receive. */
interface Listening {
  readonly entry: Entry;
  createReceiver(): Receiver;
}

const handshakesAtOnce = 100;

/**
 * Opens sockets; resolves when all are ready. Calls `advance` when a socket has received more; `batches` counts complete batches. The watch
 * fails as soon as a socket receives anything unexpected or is closed.
 */
export async function openSubscribers(
  port: number,
  count: number,
  { entry, createReceiver }: Listening,
  watch: Watch,
  advance: (subscriber: number, batches: number) => void,
): Promise<Subscribers> {
  const receivers = Array.from({ length: count }, createReceiver);
  const open = async (subscriber: number): Promise<Socket> => {
    const receiver = receivers[subscriber]!;
    const { promise: ready, resolve: becomeReady } = Promise.withResolvers<void>();
    const socket = openWebSocket(
      port,
      entry.path,
      {
        onBytes(chunk, length) {
          const wasReady = receiver.isReady;
          try {
            const answer = receiver.read(chunk, length);
            if (answer !== undefined) void socket.then((opened) => opened.write(answer));
          } catch (error) {
            watch.fail(`socket ${subscriber}, ${messageOf(error)}`);
            return;
          }
          if (wasReady) advance(subscriber, receiver.batches);
          else if (receiver.isReady) becomeReady();
        },
        onClose: (reason) => watch.fail(`socket ${subscriber} was closed: ${reason}`),
      },
      entry.protocol,
    );
    const opened = await socket;
    if (entry.greeting !== undefined) opened.write(entry.greeting);
    if (!receiver.isReady) await ready;
    return opened;
  };
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const next = Math.min(handshakesAtOnce, count - sockets.length);
    const opening = Promise.all(Array.from({ length: next }, (_, index) => open(sockets.length + index)));
    sockets.push(...(await watch.wait(opening)));
  }
  return { publisher: sockets[0]!, receivers };
}

/**
 * Describes the first socket that has received fewer or more than `batches` batches; undefined when all have received exactly that many.
 */
export function countMistake({ receivers }: Subscribers, batches: number): string | undefined {
  for (const [subscriber, receiver] of receivers.entries()) {
    const mistake = receiver.countMistake(batches);
    if (mistake !== undefined) return `socket ${subscriber} ${mistake}`;
  }
  return undefined;
}
