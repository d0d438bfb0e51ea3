// The part of NATS that this folder uses. The simulated network of the specs implements the same interface.

import type { Steps } from './nats-intake.ts';

/** A received message. */
export interface Message {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Answers the message if it requests an answer. */
  reply(data: Uint8Array | string): void;
}

/** A network for as long as it exists. Nothing here throws. Messages may be lost without notice. */
export interface Transport {
  publish(subject: string, data: Uint8Array | string): void;
  /**
   * Receives the messages of a subject, which may have wildcards; returns a function that ends it. For longer work `take` returns steps,
   * which run before the next message of the same hub. Neither must throw.
   */
  subscribe(subject: string, take: (message: Message) => Steps | undefined): () => void;
  /** Errors: no answer in time. */
  request(subject: string, data: Uint8Array | string, timeoutMs: number): Promise<Uint8Array>;
}
