// The interface to the NATS features that this folder uses. The simulated network in the specs implements the same interface.

import type { Steps } from './nats-intake.ts';

/** A message received from the NATS server. */
export interface Message {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Answers the message if the sender has requested an answer. */
  reply(data: Uint8Array | string): void;
}

/** The network access of a session. Its methods never throw. Messages may be lost without notice. */
export interface Transport {
  publish(subject: string, data: Uint8Array | string): void;
  /**
   * Receives the messages on a subject, which may contain wildcards. Returns a function that ends the subscription. For longer work, `take`
   * returns steps, which run before the next message from the same hub is handled. Neither `take` nor the steps may throw.
   */
  subscribe(subject: string, take: (message: Message) => Steps | undefined): () => void;
  /** Sends a request and resolves to the answer. Rejects if no answer arrives in time. */
  request(subject: string, data: Uint8Array | string, timeoutMs: number): Promise<Uint8Array>;
}
