// Passes on data received over TCP in small parts, because a single read may contain thousands of messages, which would delay everything
// else in the hub. All links of a connection share one limit, no matter how many clients the connection has, and take turns.

/**
 * The maximum number of received bytes that are handled in one round of the event loop for all links together, and in one turn of a single
 * link.
 */
export const readPerRoundBytes = 4096;
const readPerTurnBytes = 1024;
/** The number of unread bytes above which reading from a link is paused. */
export const maxUnreadBytes = 131_072;

export interface PacedReaderEvents {
  /** Handles the next part of the received data. */
  take(bytes: Buffer): void;
  /** Pauses or resumes reading from the link. */
  pause(isPaused: boolean): void;
  /** Called when all data that was received before `close` has been passed on. */
  closed(): void;
}

/** Lets the readers of a connection take turns in each round of the event loop. */
export class ReadingRounds {
  readonly #waiting = new Set<PacedReader>();
  #next: NodeJS.Immediate | undefined;
  #isTaking = false;

  /** Adds a reader with unread data. If no reader has had a turn in this round yet, the new reader has its turn immediately. */
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
      if (reader.hasUnread) this.#waiting.add(reader); // behind all other readers
    }
    this.#isTaking = false;
  }
}

/** Passes on the data that a link has received, in small parts. */
export class PacedReader {
  readonly #rounds: ReadingRounds;
  readonly #events: PacedReaderEvents;
  #unread: Buffer[] = [];
  /** The number of bytes in the first chunk that have already been passed on. */
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

  /** Must be called when the link is closed. Data received before is still passed on. */
  close(): void {
    this.#isClosed = true;
    if (!this.hasUnread) this.#finish();
  }

  /** Discards the unread data and stops all callbacks. */
  end(): void {
    this.#isEnded = true;
    this.#unread = [];
    this.#unreadBytes = 0;
    this.#rounds.leave(this);
  }

  /** Passes on up to `mostBytes` bytes and returns the number of bytes passed on. */
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
