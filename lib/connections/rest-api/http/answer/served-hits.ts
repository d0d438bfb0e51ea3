// Knows for which connection a client is being answered. A request is handled in one piece, so nobody has to hand on what counts hits.

import type { LimitHits } from '../../limits/limit-hits.ts';

let served: LimitHits | undefined;

/** Sets the counts of hits of the client that is being answered. */
export function serveFor(hits: LimitHits | undefined): void {
  served = hits;
}

/** The counts of hits of the client that is being answered. */
export function servedHits(): LimitHits | undefined {
  return served;
}
