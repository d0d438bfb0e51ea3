// What a protocol of the socket is to the room, and what the room gives it.

import type { Origin } from '../../../model/parameter.ts';
import type { Log } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { Filter } from '../filters/filter.ts';
import type { LimitHits } from '../limits/limit-hits.ts';
import type { Pace } from '../pacing/pace.ts';
import type { TaskQueue } from '../pacing/work-queue.ts';
import type { Settings } from '../settings.ts';
import type { FanOut } from './fan-out.ts';
import type { ConnectedClient, Session } from './session.ts';

/** A protocol of the socket. */
export interface Protocol {
  /** What operators know it by. */
  readonly name: ConnectedClient['protocol'];
  /** What the handshake is answered with; empty: the client did not ask for a subprotocol. */
  readonly subprotocol: string;
  /** Begins a session. Errors: `bad-request` for a query that makes no sense. */
  accept(origin: Origin, address: string, query: string): Session;
  /** Says goodbye to every client (close code 1001). */
  close(): void;
}

/** Hands a frame to the sockets that subscribe to a topic. */
export interface Publisher {
  publish(topic: ArrayBuffer, frame: Uint8Array): void;
}

/** What protocols are made of. */
export interface ProtocolContext {
  readonly apps: Publisher;
  readonly hub: HubPort;
  readonly settings: Settings;
  readonly log: Log;
  readonly hits: LimitHits;
  readonly pace: Pace;
  readonly tasks: TaskQueue;
  readonly fanOut: FanOut;
  /** What no client sees beyond. */
  readonly bound: Filter;
}
