// The contract between `/ws` and its protocols, and the state that the server keeps for a client, whichever protocol it speaks.

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
  /** The name of the protocol, as shown to operators. */
  readonly name: ConnectedClient['protocol'];
  /** The subprotocol of the handshake (RFC 6455 section 1.9); empty if there is none. */
  readonly subprotocol: string;
  /** Begins a session for a client whose handshake is in progress. Errors: `bad-request` if the query is invalid. */
  accept(handshakeRequest: HandshakeRequest, query: string): Session;
  /** Closes every client (close code 1001). */
  close(): void;
}

/** The client that sent the handshake. */
export interface HandshakeRequest {
  readonly principal: Principal;
  readonly origin: Origin;
  readonly remoteAddress: string;
}

/** Publishes frames to all sockets that subscribe to a topic. */
export interface Publisher {
  publish(topic: ArrayBuffer, frame: Uint8Array): void;
}

/** The hub and those parts of its server that all code for clients needs. */
export interface ServerParts {
  readonly hub: HubPort;
  readonly settings: Settings;
  readonly log: Log;
  readonly hits: LimitHits;
  readonly writes: WriteCounts;
  readonly rates: Rates;
  readonly queue: FairQueue;
}

/** The parts of the server that a protocol needs. */
export interface ProtocolContext extends ServerParts {
  readonly apps: Publisher;
  readonly round: Round;
  /** Continues with the waiting messages for a session that was busy. */
  readonly resume: (session: Session) => void;
  readonly fanOut: FanOut;
  /** Called with the number of characters in published strings, counted once for each socket. */
  readonly notePublished: (characters: number) => void;
  /**
   * Returns the filter for the parameters that a principal may see: the filter in the settings, combined with the rights of the principal.
   */
  readonly boundOf: (principal: Principal) => Filter;
}

export type Socket = WebSocket<ConnectedClient>;

/** The payload of a ping whose only purpose is to check whether the client still answers. */
export const heartbeatPayload = 'there?';

/** One client of `/ws`, from the handshake to the end of its socket. */
export interface Session {
  /** Prepares the session before its socket opens, until `endMs`; returns whether there is more to do. */
  prepare(endMs: number): boolean;
  open(socket: Socket): void;
  /**
   * Whether the next messages have to wait, because the last message is not finished, or because many answers are unread or pending. The
   * session calls `resume` when the messages may continue.
   */
  readonly isBusy: boolean;
  /** The line of the session within its share, for the fair queue. */
  readonly line: object;
  /** The number of bytes that uWebSockets.js holds for the client because the client has not read them. */
  readonly unreadBytes: number;
  receive(message: ArrayBuffer, isBinary: boolean): void;
  /** Called when uWebSockets.js has dropped a published frame, because the client has already left too much unread. */
  dropped(): void;
  /** Called when the client has read some of its unread data. */
  drained(): void;
  /** Pings the client, unless it has unread frames. */
  ping(): void;
  /** Called when the client has answered a ping without a payload, and all earlier messages from the client have been handled. */
  ponged(): void;
  /** Closes the socket with a code; does nothing once the socket is gone. */
  end(code: CloseCode, reason: string): void;
  /** Called when the socket is gone. */
  close(): void;
  /** Returns the state of the connection for operators; `nowMs` is on the monotonic clock. */
  status(nowMs: number): SessionStatus;
  interests(): Interests;
}

/**
 * A connected client. A client is a plain object and not an instance of a class, because uWebSockets.js stores a client with its socket by
 * copying the client's fields. `since` returns the time of the handshake, in milliseconds since 1970.
 */
export interface ConnectedClient {
  readonly id: number;
  readonly remoteAddress: string;
  readonly protocol: ClientProtocol;
  readonly since: () => number;
  readonly principal: Principal;
  readonly session: Session;
  /** The name that the client gives itself; empty if there is none. */
  readonly name: string;
  /** The name of the client's browser, such as `Firefox on Linux`; empty if the client is a program. */
  readonly browser: string;
  /** Whether the hub has cut the client's socket instead of closing it with a code. */
  isCut?: boolean;
}

/** The time after which a client that is behind and has read nothing counts as stalled, in milliseconds. */
export const stalledAfterMs = 1000;
/** The maximum number of a client's patterns that operators see. */
export const shownPatterns = 20;
