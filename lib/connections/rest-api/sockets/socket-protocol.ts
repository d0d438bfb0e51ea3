// The contract between `/ws` and its protocols, and the state that the server keeps for a client of either protocol.

import type { Origin } from '../../../model/parameter.ts';
import type { WebSocket } from '../../../net/uws.ts';
import type { ClientProtocol, Interests, SessionStatus } from '../../../wire/http/operation.ts';
import type { CloseCode } from '../../../wire/protocol.ts';
import type { Log } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { Filter } from '../filters/filter.ts';
import type { LimitHits } from '../limits/limit-hits.ts';
import type { Rates, WriteCounts } from '../limits/rates.ts';
import type { FairQueue } from '../pacing/fair-queue.ts';
import type { Round } from '../pacing/round.ts';
import type { Settings } from '../settings.ts';
import type { Principal } from '../users/principal.ts';
import type { FanOut } from './fan-out.ts';

/** A protocol spoken by clients of `/ws`. */
export interface Protocol {
  /** The name shown to operators. */
  readonly name: ConnectedClient['protocol'];
  /** The subprotocol of the handshake (RFC 6455 section 1.9); empty if there is none. */
  readonly subprotocol: string;
  /** Begins a session. Errors: `bad-request` for an invalid query. */
  accept(handshakeRequest: HandshakeRequest, query: string): Session;
  /** Closes every client (close code 1001). */
  close(): void;
}

/** The client that made the handshake. */
export interface HandshakeRequest {
  readonly principal: Principal;
  readonly origin: Origin;
  readonly remoteAddress: string;
}

/** Sends a frame to the sockets that subscribe to a topic. */
export interface Publisher {
  publish(topic: ArrayBuffer, frame: Uint8Array): void;
}

/** The hub, and the parts of the server needed by all code that serves clients. */
export interface ServerParts {
  readonly hub: HubPort;
  readonly settings: Settings;
  readonly log: Log;
  readonly hits: LimitHits;
  readonly writes: WriteCounts;
  readonly rates: Rates;
  readonly queue: FairQueue;
}

/** The dependencies of a protocol. */
export interface ProtocolContext extends ServerParts {
  readonly apps: Publisher;
  readonly round: Round;
  /** Continues with the messages of a session that was busy. */
  readonly resume: (session: Session) => void;
  readonly fanOut: FanOut;
  /** Called with the number of characters of published texts, counted once for each socket. */
  readonly notePublished: (characters: number) => void;
  /** Returns the filter of the parameters that a principal may see: the filter of the settings and that of its rights. */
  readonly boundOf: (principal: Principal) => Filter;
}

export type Socket = WebSocket<ConnectedClient>;

/** The payload of a ping that only checks whether the client still answers. */
export const heartbeatPayload = 'there?';

/** One client, from the handshake to the end of its socket. */
export interface Session {
  /** Prepares the session until a time, before its socket opens; returns whether there is more to do. */
  prepare(endMs: number): boolean;
  open(socket: Socket): void;
  /**
   * Whether the next messages wait, because the last one is not finished, or many answers are unread or pending. The session calls `resume`
   * when they may continue.
   */
  readonly isBusy: boolean;
  /** The line within its share. */
  readonly line: object;
  /** The number of bytes that the hub holds for it. */
  readonly unreadBytes: number;
  receive(message: ArrayBuffer, isBinary: boolean): void;
  /** Called when uWebSockets.js has dropped a published frame because too much is already unread. */
  dropped(): void;
  /** Called when the client has read data. */
  drained(): void;
  /** Pings the client, unless it has unread frames. */
  ping(): void;
  /** Called when the client has answered a ping without a payload, and everything that it sent before has been received. */
  ponged(): void;
  /** Closes the socket with a code; does nothing once the socket is gone. */
  end(code: CloseCode, reason: string): void;
  /** Called when its socket is gone. */
  close(): void;
  /** Returns the state of the connection; `nowMs` is on the monotonic clock. */
  status(nowMs: number): SessionStatus;
  interests(): Interests;
}

/**
 * A connected client. Not a class, because uWebSockets.js stores it with its socket by copying its fields. `since` returns Unix
 * milliseconds.
 */
export interface ConnectedClient {
  readonly id: number;
  readonly remoteAddress: string;
  readonly protocol: ClientProtocol;
  readonly since: () => number;
  readonly principal: Principal;
  readonly session: Session;
  /** The name that it gives itself; empty if there is none. */
  readonly name: string;
  /** The name of its browser, such as `Firefox on Linux`; empty if it is a program. */
  readonly browser: string;
  /** Whether the hub has cut its socket instead of closing it with a code. */
  isCut?: boolean;
}

/** A client that is behind and has read nothing for this long is stalled. */
export const stalledAfterMs = 1000;
/** How many patterns of a client are shown to operators. */
export const shownPatterns = 20;
