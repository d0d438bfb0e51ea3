// The server cuts sockets by itself, and gives a reason in words. Some of them say that the client has gone past a limit.

import type { LimitName } from '../limits/limits.ts';

/** The close code of a socket that ended without a close frame (RFC 6455 section 7.1.5). No client can send it. */
const cutCode = 1006;

/** The reasons of uWebSockets.js, as its binary has them, and the limits. */
export const limitsByReason: ReadonlyMap<string, LimitName> = new Map([
  ['Received too big message', 'frameBytes'],
  ['WebSocket timed out from inactivity', 'idleMs'],
]);

/** The limit that a client has gone past whose socket is gone; undefined: none. */
export function limitOfCut(code: number, reason: ArrayBuffer): LimitName | undefined {
  return code === cutCode ? limitsByReason.get(Buffer.from(reason).toString()) : undefined;
}
