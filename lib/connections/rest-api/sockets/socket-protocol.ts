// What a protocol of `/ws` does for the room, and what the room gives it; and what the room knows of a client, whatever protocol it speaks.

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

/** A protocol that clients of `/ws` speak. */
export interface Protocol {
  /** The name that operators see. */
  readonly name: ConnectedClient['protocol'];
  /** The subprotocol of the handshake (RFC 6455 section 1.9); empty: there is none. */
  readonly subprotocol: string;
  /** Begins a session. Errors: `bad-request` for a query that makes no sense. */
  accept(handshakeRequest: HandshakeRequest, query: string): Session;
  /** Says goodbye to every client (close code 1001). */
  close(): void;
}

/** Whose handshake it is. */
export interface HandshakeRequest {
  readonly principal: Principal;
  readonly origin: Origin;
  /** Where it comes from. */
  readonly remoteAddress: string;
}

/** Hands a frame to the sockets that subscribe to a topic. */
export interface Publisher {
  publish(topic: ArrayBuffer, frame: Uint8Array): void;
}

/** What all that serves clients has: the hub, and parts of the server. */
export interface ServerParts {
  readonly hub: HubPort;
  readonly settings: Settings;
  readonly log: Log;
  readonly hits: LimitHits;
  readonly writes: WriteCounts;
  readonly rates: Rates;
  readonly queue: FairQueue;
}

/** What a protocol is made of. */
export interface ProtocolContext extends ServerParts {
  readonly apps: Publisher;
  readonly round: Round;
  /** Goes on with the messages of a session that was busy. */
  readonly resume: (session: Session) => void;
  readonly fanOut: FanOut;
  /** To be told how many characters of texts were published, once for each socket. */
  readonly notePublished: (characters: number) => void;
  /** What a visitor may see: no client is told more. It is the filter of the settings, and that of its rights. */
  readonly boundOf: (principal: Principal) => Filter;
}

export type Socket = WebSocket<ConnectedClient>;

/** The payload of a ping that asks for no more than whether the client is there. */
export const heartbeatPayload = 'there?';

/** One client, from the handshake to the end of its socket. */
export interface Session {
  /** Works until a time on what has to be done before the socket opens; returns whether there is more. */
  prepare(endMs: number): boolean;
  open(socket: Socket): void;
  /** true: it works on its last message, or many answers are unread or wait, so the next messages wait. The intake is told when that is over. */
  readonly isBusy: boolean;
  /** What the hub does for it comes in this line of its share. */
  readonly line: object;
  /** What the hub holds for it. */
  readonly unreadBytes: number;
  receive(message: ArrayBuffer, isBinary: boolean): void;
  /** Is called when uWebSockets.js has dropped something that was published, since too much waits for the client already. */
  dropped(): void;
  /** Is called when the client has read. */
  drained(): void;
  /** Asks the client whether it is there, unless something waits for it already. */
  ping(): void;
  /** Is called when the client has answered a ping without a payload, and all that it sent before has been received. */
  ponged(): void;
  /** Says goodbye, and closes the socket; once that is gone it does nothing. */
  end(code: CloseCode, reason: string): void;
  /** Is called when its socket is gone. */
  close(): void;
  /** Tells how it is doing; `nowMs` is the time of the monotonic clock. */
  status(nowMs: number): SessionStatus;
  interests(): Interests;
}

/**
 * A client that is connected, as uWebSockets.js keeps it with its socket. It copies the fields, so it is no object of a class. `since`
 * gives milliseconds since 1970.
 */
export interface ConnectedClient {
  readonly id: number;
  readonly remoteAddress: string;
  readonly protocol: ClientProtocol;
  readonly since: () => number;
  readonly principal: Principal;
  readonly session: Session;
  /** Whether the hub has cut its socket rather than close it with a code. */
  isCut?: boolean;
}

/** A client that is behind and has read nothing for this long is stalled. */
export const stalledAfterMs = 1000;
/** How many patterns of a client are shown. */
export const shownPatterns = 20;
