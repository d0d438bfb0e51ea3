// How a WebSocket client is doing, as the sessions of both protocols tell it to operators.

/** A client that is behind and has read nothing for this long is stalled. */
export const stalledAfterMs = 1000;
/** How many patterns of a list are shown. */
export const shownPatterns = 20;

/** live: it is sent what happens; catching up: it is sent what it has missed; stalled: it does not read. */
export type ClientState = 'live' | 'catching up' | 'stalled';

export interface SessionStatus {
  readonly state: ClientState;
  /** What the hub holds for it. */
  readonly unreadBytes: number;
  /** For how long it has been behind; 0: it is live. */
  readonly lagMs: number;
  /** What was handed to its socket since it came, without the framing of WebSocket. */
  readonly sentBytes: number;
  readonly sentFrames: number;
  readonly receivedMessages: number;
}

/** What a client wants to hear of; of long lists the beginning. */
export type Interests = { readonly filters: readonly string[] } | { readonly subscriptions: readonly object[] };
