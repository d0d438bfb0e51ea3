// How WebSocket clients are doing: what the sessions of both protocols tell, and the list that operators get of it.

import type { ConnectedClient, Sockets } from './sockets.ts';

/** A client that is behind and has read nothing for this long is stalled. */
export const stalledAfterMs = 1000;
/** How many patterns of a list are shown. */
export const shownPatterns = 20;
const shownClients = 500;
const shownLength = 1024 * 1024;

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

/** `{"count":2,"clients":[{"id":1,"address":…,"protocol":"plain"|"patchbay.v1",…}]}`, slow ones first, at most 500 or 1 MiB. */
export function clientsOf(sockets: Sockets): object {
  const nowMs = performance.now();
  const clients = [...sockets.clients()].map((client) => ({ client, status: client.session.status(nowMs) }));
  const isSlow = ({ status }: Shown) => status.lagMs > 0 || status.unreadBytes > 0;
  const slow = clients.filter(isSlow).sort(bySlowness);
  const shown: object[] = [];
  let length = 0;
  for (const one of [...slow, ...clients.filter((client) => !isSlow(client))].slice(0, shownClients)) {
    const described = describeClient(one);
    length += JSON.stringify(described).length;
    if (length > shownLength) break;
    shown.push(described);
  }
  return { count: clients.length, clients: shown };
}

interface Shown {
  readonly client: ConnectedClient;
  readonly status: SessionStatus;
}

function bySlowness(one: Shown, other: Shown): number {
  return (
    other.status.lagMs - one.status.lagMs ||
    other.status.unreadBytes - one.status.unreadBytes ||
    one.client.id - other.client.id
  );
}

function describeClient({ client: { id, address, protocol, since, session }, status }: Shown): object {
  return {
    ...{ id, address, protocol, since: new Date(since).toISOString() },
    ...session.interests(),
    ...{ ...status, lagMs: Math.round(status.lagMs) },
  };
}
