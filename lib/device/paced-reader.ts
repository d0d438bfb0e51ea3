// What links over TCP receive, in small parts: a read may have thousands of messages, and all others of the hub would wait for them. The
// links of a connection share one bound, no matter how many clients it has, and take turns.

/** The number of received bytes of all links that are handled in one round of the event loop, and of one link in its turn. */
export const readPerRoundBytes = 4096;
const readPerTurnBytes = 1024;
/** The number of waiting bytes at which a link is paused. */
export const maxUnreadBytes = 131_072;

export interface PacedReaderEvents {
  /** Takes the next part. */
  take(bytes: Buffer): void;
  /** Stops reading from the link, or goes on. */
  pause(isPaused: boolean): void;
  /** Everything is taken that had come before `close`. */
  closed(): void;
}

/** The rounds of the event loop in which the readers of a connection take turns. */
export class ReadingRounds {
  readonly #waiting = new Set<PacedReader>();
  #next: NodeJS.Immediate | undefined;
  #isTaking = false;

  /** Lets a reader with unread bytes take turns: immediately, if no reader has taken a part in this round. */
  join(reader: PacedReader): void {
    this.#waiting.add(reader);
    if (this.#next === undefined && !this.#isTaking) this.#takeRound();
  }

  leave(reader: PacedReader): void {
    this.#waiting.delete(reader);
  }

  #takeRound(): void {
    this.#isTaking = true;
    this.#next = setImmediate(() => {
      this.#next = undefined;
      if (this.#waiting.size > 0) this.#takeRound();
    });
    for (let left = readPerRoundBytes; left > 0 && this.#waiting.size > 0; ) {
      const reader: PacedReader = this.#waiting.values().next().value!;
      this.#waiting.delete(reader);
      left -= reader.takeTurn(Math.min(left, readPerTurnBytes));
      if (reader.hasUnread) this.#waiting.add(reader); // behind the others
    }
    this.#isTaking = false;
  }
}

/** Passes on what a link has received, in parts. */
export class PacedReader {
  readonly #rounds: ReadingRounds;
  readonly #events: PacedReaderEvents;
  #unread: Buffer[] = [];
  /** How much of the first one is taken. */
  #at = 0;
  #unreadBytes = 0;
  #isPaused = false;
  #isClosed = false;
  #isEnded = false;

  constructor(rounds: ReadingRounds, events: PacedReaderEvents) {
    this.#rounds = rounds;
    this.#events = events;
  }

  get hasUnread(): boolean {
    return this.#unreadBytes > 0;
  }

  push(bytes: Buffer): void {
    if (this.#isEnded || bytes.length === 0) return;
    this.#unread.push(bytes);
    this.#unreadBytes += bytes.length;
    this.#rounds.join(this);
    if (!this.#isPaused && this.#unreadBytes > maxUnreadBytes) this.#pause(true);
  }

  /** Notes that the link is closed; data received earlier is still processed. */
  close(): void {
    this.#isClosed = true;
    if (!this.hasUnread) this.#finish();
  }

  /** Drops what is left; nothing is reported any more. */
  end(): void {
    this.#isEnded = true;
    this.#unread = [];
    this.#unreadBytes = 0;
    this.#rounds.leave(this);
  }

  /** Passes on up to so many bytes. Returns how many it has passed on. */
  takeTurn(mostBytes: number): number {
    let taken = 0;
    while (taken < mostBytes && this.hasUnread) {
      const first = this.#unread[0]!;
      const part = first.subarray(this.#at, this.#at + mostBytes - taken);
      taken += part.length;
      this.#unreadBytes -= part.length;
      this.#at += part.length;
      if (this.#at === first.length) {
        this.#unread.shift();
        this.#at = 0;
      }
      this.#events.take(part);
    }
    if (this.#isPaused && !this.#isEnded && this.#unreadBytes < maxUnreadBytes / 4) this.#pause(false);
    if (this.#isClosed && !this.hasUnread) this.#finish();
    return taken;
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
