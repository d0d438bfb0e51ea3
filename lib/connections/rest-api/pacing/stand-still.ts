// Knows whether the machine or the process has stood still lately: then all comes at once that clients have sent meanwhile, which is no
// fault of theirs. Time in which the process worked does not count: a flood may have made it work.

import { processorMs } from './processor-time.ts';

const lookEveryMs = 100;
/** A shorter time is that of a machine that does other work. */
const stillMs = 250;
/** For so long afterwards it was lately: what has come takes a while to be read. */
const latelyMs = 1000;

export class StandStill {
  readonly #timer = setInterval(() => this.#look(performance.now()), lookEveryMs).unref();
  #lookedMs = performance.now();
  #processorMs = processorMs();
  #endedMs = Number.NEGATIVE_INFINITY;

  wasLately(): boolean {
    const now = performance.now();
    if (now - this.#lookedMs > stillMs) this.#look(now); // what has come may be read before the timer is due
    return now - this.#endedMs < latelyMs;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(now: number): void {
    const usedMs = processorMs();
    if (now - this.#lookedMs - (usedMs - this.#processorMs) > stillMs) this.#endedMs = now;
    this.#lookedMs = now;
    this.#processorMs = usedMs;
  }
}
