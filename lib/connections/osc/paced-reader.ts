// What a link over TCP receives, in small parts: a read may have thousands of messages, and all others of the hub would wait for them.

/** How many received bytes are handled in one round of the event loop. */
export const readPerRoundBytes = 4096;
/** How many received bytes wait; then the link is paused. */
export const maxUnreadBytes = 131_072;

export interface PacedReaderEvents {
  /** Takes the next part. */
  take(bytes: Buffer): void;
  /** Stops reading from the link, or goes on. */
  pause(isPaused: boolean): void;
  /** Everything is taken that had come before `close`. */
  closed(): void;
}

/** Passes on a part in each round of the event loop, the first one immediately. */
export class PacedReader {
  readonly #events: PacedReaderEvents;
  #unread: Buffer[] = [];
  /** How much of the first one is taken. */
  #at = 0;
  #unreadBytes = 0;
  #isPaused = false;
  #next: NodeJS.Immediate | undefined;
  #isClosed = false;
  #isEnded = false;

  constructor(events: PacedReaderEvents) {
    this.#events = events;
  }

  push(bytes: Buffer): void {
    if (this.#isEnded || bytes.length === 0) return;
    this.#unread.push(bytes);
    this.#unreadBytes += bytes.length;
    if (this.#next === undefined) this.#takeRound();
    if (!this.#isPaused && this.#unreadBytes > maxUnreadBytes) this.#pause(true);
  }

  /** The link is closed: what has come is still taken. */
  close(): void {
    this.#isClosed = true;
    if (this.#next === undefined) this.#finish();
  }

  /** Drops what is left; nothing is reported any more. */
  end(): void {
    this.#isEnded = true;
    this.#unread = [];
    this.#unreadBytes = 0;
    clearImmediate(this.#next);
  }

  #takeRound(): void {
    this.#next = setImmediate(() => {
      this.#next = undefined;
      if (this.#unreadBytes > 0) this.#takeRound();
      else if (this.#isClosed) this.#finish();
    });
    for (let left = readPerRoundBytes; left > 0 && this.#unreadBytes > 0; ) {
      const first = this.#unread[0]!;
      const part = first.subarray(this.#at, this.#at + left);
      left -= part.length;
      this.#unreadBytes -= part.length;
      this.#at += part.length;
      if (this.#at === first.length) {
        this.#unread.shift();
        this.#at = 0;
      }
      this.#events.take(part);
    }
    if (this.#isPaused && !this.#isEnded && this.#unreadBytes < maxUnreadBytes / 4) this.#pause(false);
  }

  #pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (!this.#isClosed) this.#events.pause(isPaused);
  }

  #finish(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#events.closed();
  }
}
