// What a protocol of `/ws` does for the room, and what the room gives it.

import type { Origin } from '../../../model/parameter.ts';
import type { Log } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { Filter } from '../filters/filter.ts';
import type { WriteCounts } from '../input/write-counts.ts';
import type { LimitHits } from '../limits/limit-hits.ts';
import type { Rates } from '../limits/rates.ts';
import type { FairQueue } from '../pacing/fair-queue.ts';
import type { Round } from '../pacing/round.ts';
import type { Settings } from '../settings.ts';
import type { Visitor } from '../users/visitor.ts';
import type { FanOut } from './fan-out.ts';
import type { ConnectedClient, Session } from './session.ts';

/** A protocol that clients of `/ws` speak. */
export interface Protocol {
  /** The name that operators see. */
  readonly name: ConnectedClient['protocol'];
  /** The subprotocol of the handshake (RFC 6455 section 1.9); empty: there is none. */
  readonly subprotocol: string;
  /** Begins a session. Errors: `bad-request` for a query that makes no sense. */
  accept(comer: Comer, query: string): Session;
  /** Says goodbye to every client (close code 1001). */
  close(): void;
}

/** Whose handshake it is. */
export interface Comer {
  readonly visitor: Visitor;
  readonly origin: Origin;
  /** Where it comes from. */
  readonly remoteAddress: string;
}

/** Hands a frame to the sockets that subscribe to a topic. */
export interface Publisher {
  publish(topic: ArrayBuffer, frame: Uint8Array): void;
}

/** What a protocol is made of. */
export interface ProtocolContext {
  readonly apps: Publisher;
  readonly hub: HubPort;
  readonly settings: Settings;
  readonly log: Log;
  readonly hits: LimitHits;
  readonly writes: WriteCounts;
  readonly rates: Rates;
  readonly round: Round;
  readonly queue: FairQueue;
  /** Goes on with the messages of a session that was busy. */
  readonly resume: (session: Session) => void;
  readonly fanOut: FanOut;
  /** What a visitor may see: no client is told more. It is the filter of the settings, and that of its rights. */
  readonly boundOf: (visitor: Visitor) => Filter;
}
