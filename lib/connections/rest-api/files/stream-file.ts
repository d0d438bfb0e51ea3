// Sends a file piece by piece, as fast as the client reads.

import { close, read } from 'node:fs';
import { promisify } from 'node:util';
import type { ByteRange } from '../http/answer/conditional.ts';
import type { Exchange } from '../http/exchange.ts';
import { sendPart } from '../http/send-part.ts';
import { giveFileBack } from '../limits/descriptor-shares.ts';

const chunkBytes = 64 * 1024;

/** Sends a part of an open file and closes the file. If the file is shorter than was announced, it cuts the connection. */
export async function streamFile(exchange: Exchange, descriptor: number, { start, length }: ByteRange): Promise<void> {
  try {
    const buffer = Buffer.allocUnsafe(chunkBytes);
    for (let sent = 0; sent < length && !exchange.isAborted; ) {
      const wanted = Math.min(buffer.length, length - sent);
      const { bytesRead } = await promisify(read)(descriptor, buffer, 0, wanted, start + sent);
      if (bytesRead === 0) return exchange.reply((response) => response.close());
      await sendPart(exchange, buffer.subarray(0, bytesRead), length);
      sent += bytesRead;
    }
  } finally {
    await promisify(close)(descriptor);
    giveFileBack();
  }
}
