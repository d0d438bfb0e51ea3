// Work that a connection has begun and that must end before the hub does, such as a file being written.

import type { Log } from '../../../connections/connection.ts';
import { messageOf } from '../../../model/error.ts';

export class UnfinishedWork {
  readonly #work = new Set<Promise<unknown>>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  get isEmpty(): boolean {
    return this.#work.size === 0;
  }

  add(work: Promise<unknown>): void {
    const settled = work.catch((error) => this.#log.warn({}, `stopped unfinished: ${messageOf(error)}`));
    this.#work.add(settled);
    settled.finally(() => this.#work.delete(settled));
  }

  /** Resolves when all of it has ended, well or not. */
  async whenEnded(): Promise<void> {
    await Promise.all(this.#work);
  }
}
