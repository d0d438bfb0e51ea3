// Sends a long body as fast as the client reads. Nothing of it is copied into the server.

import type { Exchange } from './exchange.ts';

/** Sends a part of a body of so many bytes in all, and waits until it is taken or the client has gone. */
export async function sendPart(exchange: Exchange, part: Uint8Array, totalBytes: number): Promise<void> {
  for (let rest = part; rest.length > 0 && !exchange.isAborted; ) {
    const before = exchange.response.getWriteOffset();
    let isTaken = true;
    let isComplete = true;
    exchange.reply((response) => {
      [isTaken, isComplete] = response.tryEnd(rest, totalBytes);
    });
    if (isTaken || isComplete) return;
    const taken = exchange.isAborted ? rest.length : exchange.response.getWriteOffset() - before;
    await exchange.writable();
    rest = rest.subarray(taken);
  }
}
