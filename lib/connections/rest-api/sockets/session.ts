// What the room knows of a WebSocket client, whichever protocol it speaks.

import type { WebSocket } from '../../../net/uws.ts';
import type { CloseCode } from '../../../wire/close-codes.ts';
import type { ClientProtocol, Interests, SessionStatus } from '../../../wire/http/clients.ts';

export type Socket = WebSocket<Tenant>;

/** What the server keeps with a socket: it copies fields, and so takes no object of a class. */
export interface Tenant {
  readonly session: Session;
  readonly address: string;
  readonly protocol: ConnectedClient['protocol'];
}

/** One client, from the handshake to the end of its socket. */
export interface Session {
  /** Does what takes long before it can be opened, until then; returns whether there is more. */
  prepare(endMs: number): boolean;
  open(socket: Socket): void;
  /** Whether it has not yet done what its last message asks for: those that follow wait, until it requests that of the pace. */
  readonly isBusy: boolean;
  receive(message: ArrayBuffer, isBinary: boolean): void;
  /** Something that was published to it did not fit into what the server holds for it. */
  dropped(): void;
  /** It has read. */
  drained(): void;
  /** Says goodbye, and closes the socket. */
  end(code: CloseCode, reason: string): void;
  /** Its socket is gone. */
  close(): void;
  /** How it is doing; `nowMs` is of the monotonic clock. */
  status(nowMs: number): SessionStatus;
  interests(): Interests;
}

/** A client that is connected. `since` is milliseconds since 1970. */
export interface ConnectedClient {
  readonly id: number;
  readonly address: string;
  readonly protocol: ClientProtocol;
  readonly since: number;
  readonly session: Session;
}
