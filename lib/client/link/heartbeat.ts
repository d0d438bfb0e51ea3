// Finds out in seconds that the other side is gone, which TCP takes minutes for: asks after a silence, and gives up when
// nothing comes back.

import type { Platform } from './platform.ts';

export interface HeartbeatTimes {
  /** How long nothing may be heard before the hub is asked whether it is there, ms. */
  readonly pingAfterMs: number;
  /** How long it has for the answer, ms. */
  readonly answerWithinMs: number;
}

export class Heartbeat {
  readonly #platform: Platform;
  readonly #times: HeartbeatTimes;
  readonly #ping: () => void;
  readonly #dead: () => void;
  #heardAt = 0;
  #isAsking = false;
  #cancel = () => {};

  constructor(platform: Platform, times: HeartbeatTimes, ping: () => void, dead: () => void) {
    this.#platform = platform;
    this.#times = times;
    this.#ping = ping;
    this.#dead = dead;
  }

  start(): void {
    this.heard();
    this.#watch();
  }

  stop(): void {
    this.#cancel();
    this.#isAsking = false;
  }

  /** Something came. */
  heard(): void {
    this.#heardAt = this.#platform.now();
    this.#isAsking = false;
  }

  /** Asks at once; one question at a time. */
  ask(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.#ping();
    const halfMs = this.#times.answerWithinMs / 2;
    // In two halves: a page that was itself busy for long hears in between what has come meanwhile.
    this.#after(halfMs, () => this.#after(halfMs, () => (this.#isAsking ? this.#dead() : this.#watch())));
  }

  #watch(): void {
    const restMs = this.#times.pingAfterMs - (this.#platform.now() - this.#heardAt);
    if (restMs > 0) this.#after(restMs, () => this.#watch());
    else this.ask();
  }

  #after(delayMs: number, work: () => void): void {
    this.#cancel();
    this.#cancel = this.#platform.after(delayMs, work);
  }
}
