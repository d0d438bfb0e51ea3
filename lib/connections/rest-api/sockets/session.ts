// What the room knows of a WebSocket client, whatever protocol it speaks.

import type { WebSocket } from '../../../net/uws.ts';
import type { CloseCode } from '../../../wire/close-codes.ts';
import type { ClientProtocol, Interests, SessionStatus } from '../../../wire/http/operation/clients.ts';
import type { Visitor } from '../users/visitor.ts';

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
  readonly visitor: Visitor;
  readonly session: Session;
}
