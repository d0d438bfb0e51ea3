// Measures how long turns take: at most one in a millisecond, as to read the clock twice takes as long as a write.

import { Durations } from '../model/time/durations.ts';

export class TurnTimer {
  readonly durations = new Durations();
  readonly #now: () => number;
  /** The time of day of the last turn that was timed. */
  #timedAt = 0;
  #beganMs = 0;

  /** `now` tells the time of day in milliseconds, without reading a clock each time. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** A turn begins. Returns whether it is timed; then its end is to be told. */
  begin(): boolean {
    const now = this.#now();
    if (now === this.#timedAt) return false;
    this.#timedAt = now;
    this.#beganMs = performance.now();
    return true;
  }

  end(): void {
    this.durations.add((performance.now() - this.#beganMs) / 1000);
  }
}
