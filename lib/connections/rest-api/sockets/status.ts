// How a WebSocket client is doing, as its session tells operators.

export type { Interests, SessionStatus } from '../../../wire/http/clients.ts';

/** A client that is behind and has read nothing for this long is stalled. */
export const stalledAfterMs = 1000;
/** How many patterns of a client are shown. */
export const shownPatterns = 20;
