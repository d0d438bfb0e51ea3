// Sends a file piece by piece, as fast as the client reads.

import { close } from 'node:fs';
import { promisify } from 'node:util';
import type { ByteRange } from '../http/answer/conditional.ts';
import type { Paced } from '../http/body.ts';
import type { Exchange } from '../http/exchange.ts';
import { sendParts } from '../http/send-parts.ts';
import { giveFileBack } from '../limits/descriptor-shares.ts';
import type { Disk } from './disk.ts';
import { readBytes } from './reading.ts';

const chunkBytes = 64 * 1024;

/** Sends a part of an open file and closes the file. If the file is shorter than was announced, it cuts the connection. */
export async function streamFile(
  exchange: Exchange,
  descriptor: number,
  { start, length }: ByteRange,
  { disk, queue, share }: Paced & { readonly disk: Disk },
): Promise<void> {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  const next = (sent: number) => {
    const chunk = buffer.subarray(0, Math.min(chunkBytes, length - sent));
    const read = disk.read(readBytes(descriptor, chunk, start + sent));
    const filled = (bytes: number) => (bytes === 0 ? undefined : chunk.subarray(0, bytes));
    return read instanceof Promise ? read.then(filled) : filled(read);
  };
  try {
    await sendParts(exchange, { queue, share }, { totalBytes: length, heldBytes: chunkBytes, next });
  } finally {
    await promisify(close)(descriptor);
    giveFileBack();
  }
}
