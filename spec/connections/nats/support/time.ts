// A simulated time for what waits for promises in between.

import { VirtualAction, VirtualTimeScheduler } from 'rxjs';

/** Time that goes on by itself where nothing waits for a promise. */
export class Time extends VirtualTimeScheduler {
  constructor() {
    super(VirtualAction, Number.POSITIVE_INFINITY);
    this.frame = 1;
  }

  async run(untilMs: number): Promise<void> {
    for (;;) {
      await new Promise(setImmediate);
      const next = (this.actions as { delay: number }[]).reduce((least, { delay }) => Math.min(least, delay), Infinity);
      if (next > untilMs) break;
      this.maxFrames = next;
      this.flush();
    }
    this.frame = untilMs;
  }
}
