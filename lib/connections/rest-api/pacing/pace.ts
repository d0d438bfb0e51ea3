// How long the hub has worked for clients in one round of the event loop. uWebSockets.js reads a socket for as long as it fills its
// buffer of 512 KB; so one client could keep a round going for ever, in which no other client, timer or signal has its turn.
// What comes after the time of a round is kept, and worked on between rounds.

import { processorMs } from './processor-time.ts';

/** So much work is done between two looks at the clock, in bytes of messages. */
const lookEvery = 4096;
/** What a message costs beside its bytes. */
const messageWork = 128;
/** From here on the time of a round is that of the processor: what the machine does meanwhile for others is no client's doing. */
const wallMs = 4;
/** To ask the system for it takes some microseconds: it is asked at most so often. */
const askEveryMs = 1;
/** But others wait: a round has gone on for at least this share of the time that has passed. */
const leastShare = 1 / 3;

/** Work that was put off; does some of it until then, and returns whether there is more. */
export type LaterWork = (endMs: number) => boolean;

/** How long work that was put off is done between two rounds. */
const laterMs = 8;

export class Pace {
  #work = lookEvery;
  /** When the round began, in milliseconds of a monotonic clock, and how long it had gone on at the last look; 0: not yet. */
  #beganMs = 0;
  #spentMs = 0;
  /** How much of the processor the hub had used when that was looked at first in this round; undefined: it was not. */
  #usedMs: number | undefined = undefined;
  #askedMs = 0;
  readonly #later: LaterWork[] = [];
  #isRequested = false;

  /** Counts a message of so many bytes that is being taken; returns whether this round has gone on for less than `limitMs`. */
  hasTime(bytes: number, limitMs: number): boolean {
    this.#work += messageWork + bytes;
    if (this.#work >= lookEvery) this.#look();
    return this.#spentMs < limitMs;
  }

  /** How long this round had gone on at the last look. */
  get spentMs(): number {
    return this.#spentMs;
  }

  /** Registers work that is put off; `request` has it done between rounds, as long as it says that there is more. */
  add(work: LaterWork): void {
    this.#later.push(work);
  }

  request(): void {
    if (this.#isRequested) return;
    this.#isRequested = true;
    setImmediate(() => this.#workLater());
  }

  #look(): void {
    this.#work = 0;
    const now = performance.now();
    if (this.#beganMs === 0) {
      this.#beganMs = now;
      setImmediate(this.#endRound);
    } else if (now - this.#beganMs < wallMs) this.#spentMs = now - this.#beganMs;
    else if (now - this.#askedMs >= askEveryMs) {
      this.#askedMs = now;
      const usedMs = processorMs();
      this.#usedMs ??= usedMs;
      const passedMs = now - this.#beganMs;
      this.#spentMs = Math.min(passedMs, Math.max(wallMs + usedMs - this.#usedMs, passedMs * leastShare));
    }
  }

  readonly #endRound = () => {
    this.#beganMs = 0;
    this.#spentMs = 0;
    this.#usedMs = undefined;
    this.#work = lookEvery; // the first message of a round looks at the clock
  };

  #workLater(): void {
    this.#isRequested = false;
    const endMs = performance.now() + laterMs;
    let hasMore = false;
    for (const [index, work] of this.#later.entries()) {
      const share = (endMs - performance.now()) / (this.#later.length - index);
      if (work(performance.now() + share)) hasMore = true;
    }
    if (hasMore) this.request();
  }
}
