// What the parts of this folder need of NATS, and no more. A simulated network in the specs has the same shape.

import type { Steps } from './nats-intake.ts';

/** A message as it came. */
export interface Message {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Answers it, if it asks for that. */
  reply(data: Uint8Array | string): void;
}

/** A network of subjects for as long as it is there. Nothing here throws; what is sent may be lost, and nobody says so. */
export interface Transport {
  publish(subject: string, data: Uint8Array | string): void;
  /**
   * Has the messages of a subject, which may have wildcards; returns what ends that. What takes longer returns its steps, which are gone
   * through before the next message of the same hub. Neither must throw.
   */
  subscribe(subject: string, take: (message: Message) => Steps | undefined): () => void;
  /** Errors: when no answer comes in time. */
  request(subject: string, data: Uint8Array | string, timeoutMs: number): Promise<Uint8Array>;
}
