// Measures how long turns take, at most one in a millisecond and in a round of the event loop: to read a clock twice takes as long as
// a write.

import { Durations } from '../model/time/durations.ts';

/** The graph asks in one turn of so many whether to time it. */
export const timedEvery = 64;

export class TurnTimer {
  readonly durations = new Durations();
  readonly #now: () => number;
  /** When the round of the last turn that was timed began, and that turn itself by a monotonic clock. */
  #roundMs = 0;
  #beganMs = 0;

  /** `now` tells when this round of the event loop began, in milliseconds: it reads no clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** A turn begins. Returns whether it is timed; then its end is to be told. */
  begin(): boolean {
    const now = this.#now();
    if (now === this.#roundMs) return false;
    this.#roundMs = now;
    this.#beganMs = performance.now();
    return true;
  }

  /** A turn that is timed ends. */
  end(): void {
    this.durations.add((performance.now() - this.#beganMs) / 1000);
  }
}
