// What operators see of a WebSocket client.

/** A client that is behind and has read nothing for this long is stalled. */
export const stalledAfterMs = 1000;
/** How many patterns of a client are shown. */
export const shownPatterns = 20;
