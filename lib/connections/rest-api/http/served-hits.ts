// Whose client is being answered. A request is handled in one piece, so the answer need not be handed what counts its hits.

import type { LimitHits } from '../limits/limit-hits.ts';

let served: LimitHits | undefined;

/** Says whose client is being answered, until another is; a request is handled in one piece. */
export function serveFor(hits: LimitHits | undefined): void {
  served = hits;
}

/** The hits of the connection whose client is being answered. */
export function servedHits(): LimitHits | undefined {
  return served;
}
