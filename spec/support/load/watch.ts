// Waiting within a load: a failure anywhere ends the wait, as does a deadline or a stall.

import { setTimeout as after } from 'node:timers/promises';
import { type Looks, untilSo, within } from '../deadline.ts';

export class Watch {
  readonly #failure = Promise.withResolvers<never>();
  #hasFailed = false;

  constructor() {
    this.failed.catch(() => {}); // whoever waits hears of it, and nobody else need
  }

  /** Rejects as soon as something has failed. */
  get failed(): Promise<never> {
    return this.#failure.promise;
  }

  /** Something has failed; may be handed on as it is, such as to sockets. */
  readonly fail = (reason: string): void => {
    this.#hasFailed = true;
    this.#failure.reject(new Error(reason));
  };

  /** Resolves as `work` does. Errors: what has failed. */
  wait<Result>(work: Promise<Result>): Promise<Result> {
    return Promise.race([work, this.failed]);
  }

  /** Resolves as `work` does. Errors: what has failed, or that this was expected within the time. */
  within<Result>(work: Promise<Result>, expected: string, deadlineMs: number): Promise<Result> {
    return this.wait(within(work, expected, deadlineMs));
  }

  /** Polls a condition, and resolves once it is met. Errors: the same. */
  untilSo(expected: string, isSo: () => boolean, looks: Looks): Promise<void> {
    return this.wait(untilSo(expected, () => this.#hasFailed || isSo(), looks));
  }

  /** Waits for a time. Errors: any failure meanwhile. */
  async pass(delayMs: number): Promise<void> {
    await this.wait(after(delayMs, undefined, { ref: false }));
  }

  /** Fails once `progress` has not advanced for this long; `notify` describes how far it got. */
  failAtStandstill(stallMs: number, progress: () => number, notify: () => string): void {
    let last = Number.NaN;
    const timer = setInterval(() => {
      const now = progress();
      if (now === last) {
        clearInterval(timer);
        this.fail(`stalled for ${stallMs} ms: ${notify()}`);
      }
      last = now;
    }, stallMs).unref();
  }
}
