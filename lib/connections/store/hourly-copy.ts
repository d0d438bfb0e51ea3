// Makes an hourly copy of a database, which replaces a database that is damaged. A separate thread makes the copy.

import type { Worker } from 'node:worker_threads';
import { messageOf } from '../../model/error.ts';
import { startThread } from './store-thread.ts';
import type { DatabaseFiles } from './thread/database/files.ts';
import type { Copied } from './thread/values/values-messages.ts';

/**
 * The interval between two copies, in milliseconds. The first copy, and the next attempt after a failure, do not wait for the whole
 * interval.
 */
export const copyEveryMs = 3_600_000;
const firstMs = 60_000;
const againMs = 300_000;

export class HourlyCopy {
  readonly #files: DatabaseFiles;
  #dueAt = Infinity;
  #worker: Worker | undefined;
  #trouble: string | undefined;

  constructor(files: DatabaseFiles) {
    this.#files = files;
  }

  /** Schedules the next copy according to the age of the existing copy; `ageMs` is undefined if there is no copy. */
  plan(now: number, ageMs: number | undefined): void {
    this.#dueAt = now + (ageMs === undefined ? firstMs : Math.max(0, copyEveryMs - ageMs));
  }

  /** The reason why the last hourly copy failed; undefined if it succeeded or no copy is due yet. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  isDue(now: number): boolean {
    return now >= this.#dueAt && this.#worker === undefined;
  }

  /** Makes a copy immediately, and plans the next one. `now` returns the current time. Never rejects. */
  async make(now: () => number): Promise<Copied> {
    const copied = await this.#copy();
    this.#worker = undefined;
    this.#trouble = copied.state === 'copied' ? undefined : `the hourly copy failed: ${copied.reason}`;
    this.#dueAt = now() + (copied.state === 'copied' ? copyEveryMs : againMs);
    return copied;
  }

  #copy(): Promise<Copied> {
    const { promise, resolve } = Promise.withResolvers<Copied>();
    const fail = (error: unknown) => resolve({ state: 'failed', reason: messageOf(error) });
    try {
      const worker = startThread('copy-thread', this.#files);
      this.#worker = worker;
      worker.once('message', resolve).once('error', fail);
      worker.once('exit', () => fail('its thread was terminated'));
    } catch (error) {
      fail(error); // the machine has too many threads, or not enough memory for another thread
    }
    return promise;
  }

  async end(): Promise<void> {
    await this.#worker?.terminate();
  }
}
