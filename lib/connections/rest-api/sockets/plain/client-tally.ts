// Counts what a plain client was sent: to it alone, and on its topic while it was live.

import { type Sent, Tally } from '../tally.ts';

export class ClientTally {
  /** What was sent to the client alone. */
  readonly own = new Tally();
  /** What was published on its topic since the topic began. */
  readonly #topic: Tally;
  /** What it had of its topic when it last stopped being live. */
  #before: Sent = { frames: 0, bytes: 0 };
  /** Where the topic stood when it became live, less what it had before; undefined: it is not live. */
  #liveFrom: Sent | undefined = undefined;

  constructor(topic: Tally) {
    this.#topic = topic;
  }

  /** From now on the client is sent what is published on its topic. */
  goLive(): void {
    this.#liveFrom = this.#topic.since(this.#before);
  }

  /** From now on it is not. */
  fallBehind(): void {
    this.#before = this.#onTopic();
    this.#liveFrom = undefined;
  }

  total(): Sent {
    const { frames, bytes } = this.#onTopic();
    return { frames: this.own.frames + frames, bytes: this.own.bytes + bytes };
  }

  #onTopic(): Sent {
    return this.#liveFrom === undefined ? this.#before : this.#topic.since(this.#liveFrom);
  }
}
