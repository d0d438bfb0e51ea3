// Counts bodies that do not come whole in time. uWebSockets.js then cuts the connection and gives no reason, so the hub goes by the time.

import type { LimitHits } from '../limits/limit-hits.ts';
import { limits } from '../limits/limits.ts';
import { remoteAddressOf } from '../proxies/remote-address.ts';
import type { Exchange } from './exchange.ts';

/** The library cuts after 8 to 12 s. A client that leaves by itself after this time had not sent its body in time either. */
const lateMs = limits.bodyMs.default - 3000;

/** Counts a client whose connection ends late while some of its body is awaited. It is called as soon as the head has come. */
export function countLateBody(exchange: Exchange, hits: LimitHits | undefined, isAwaited: () => boolean): void {
  const sinceMs = performance.now();
  const client = remoteAddressOf(exchange.response); // once the client has gone, the library does not tell it
  exchange.whenAborted(() => {
    if (isAwaited() && performance.now() - sinceMs >= lateMs) hits?.add('bodyMs', client);
  });
}
