// Sockets that must all receive the same stream. Each keeps one number, its position; every byte is compared on arrival.

import type { Socket } from 'node:net';
import type { ExpectedStream } from './expected-stream.ts';
import { openWebSocket } from './web-socket.ts';

export interface Subscribers {
  /** The first of the sockets, for sending. */
  readonly publisher: Socket;
  /** How many bytes each has received. */
  readonly positions: Float64Array;
  /** Rejects as soon as a socket receives anything else, or is closed. */
  readonly failed: Promise<never>;
}

const handshakesAtOnce = 100;

/** Opens the sockets; `advance` is called when one has received the stream up to a new position. */
export async function openSubscribers(
  port: number,
  count: number,
  stream: ExpectedStream,
  advance: (subscriber: number, position: number) => void,
  path = '/ws',
): Promise<Subscribers> {
  const positions = new Float64Array(count);
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  failed.catch(() => {}); // whoever waits for the work hears of it, and nobody else need
  const open = (subscriber: number) =>
    openWebSocket(port, path, {
      onBytes(chunk, length) {
        const position = positions[subscriber]!;
        if (!stream.matches(chunk, length, position)) {
          fail(new Error(differenceAt(subscriber, position, stream, chunk, length)));
          return;
        }
        positions[subscriber] = position + length;
        advance(subscriber, position + length);
      },
      onClose: (reason) => fail(new Error(`socket ${subscriber} was closed: ${reason}`)),
    });
  const sockets: Socket[] = [];
  while (sockets.length < count) {
    const next = Math.min(handshakesAtOnce, count - sockets.length);
    sockets.push(...(await Promise.all(Array.from({ length: next }, (_, index) => open(sockets.length + index)))));
  }
  return { publisher: sockets[0]!, positions, failed };
}

/** Says which socket has not received all `bytes` of what was sent, or more; undefined when all have exactly that. */
export function countMistake({ positions }: Subscribers, bytes: number): string | undefined {
  const subscriber = positions.findIndex((position) => position !== bytes);
  return subscriber < 0
    ? undefined
    : `socket ${subscriber} received ${positions[subscriber]} bytes, expected ${bytes} as were sent`;
}

function differenceAt(
  subscriber: number,
  position: number,
  stream: ExpectedStream,
  chunk: Buffer,
  length: number,
): string {
  let at = 0;
  while (at < length && stream.matches(chunk.subarray(at), 1, position + at)) at++;
  const came = printable(chunk.toString('latin1', at, Math.min(length, at + 40)));
  const expected = printable(stream.textAt(position + at, 40));
  return `socket ${subscriber}, byte ${position + at}: expected ${expected}, got ${came}`;
}

/** Heads of frames as dots. */
function printable(bytes: string): string {
  return bytes.replace(/[^ -~]/g, '·');
}
