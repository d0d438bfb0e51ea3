// The WebSocket clients of a REST API connection.

import type { Pattern } from '../../pattern.ts';
import type { protocolName } from '../../protocol.ts';
import type { IsoTime } from '../../time.ts';
import type { Delivery } from '../../v1/client-messages.ts';

/** `GET /hub/clients` answers with `{"count":2,"clients":[{"id":1,"address":"127.0.0.1","protocol":"plain",…}]}`, slow ones first. */
export interface ClientList {
  /** All of them; `clients` may be fewer. */
  readonly count: number;
  readonly clients: readonly ClientStatus[];
}

export interface ClientStatus extends Interests, SessionStatus {
  readonly id: number;
  /** The name of its user; empty: nobody in particular. */
  readonly user: string;
  /** The IP address that it comes from. */
  readonly address: string;
  readonly protocol: ClientProtocol;
  /** When it was connected. */
  readonly since: IsoTime;
}

export type ClientProtocol = 'plain' | typeof protocolName;

/** What a client wants to hear of: a plain one has `filters`, one of `patchbay.v1` has `subscriptions`. */
export interface Interests {
  /** Regular expressions. */
  readonly filters?: readonly string[] | undefined;
  readonly subscriptions?: readonly ClientSubscription[] | undefined;
}

/** `{"id":1,"include":["desk/*",{"regex":"x"}],"exclude":[],"rate":2.5,"delivery":"latest"}`; of long lists the beginning. */
export interface ClientSubscription {
  readonly id: number;
  readonly include: readonly Pattern[];
  readonly exclude: readonly Pattern[];
  /** At most so many times a second something is sent; 0: as changes come. */
  readonly rate: number;
  readonly delivery: Delivery;
}

/** live: it is sent what happens; catching up: it is sent what it has missed; stalled: it does not read. */
export type ClientState = 'live' | 'catching up' | 'stalled';

/** How well it takes what it is sent. */
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
