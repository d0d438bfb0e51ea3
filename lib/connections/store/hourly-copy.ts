// The copy of the database that is used when the database is damaged: one each hour, made by a thread of its own.

import type { Worker } from 'node:worker_threads';
import { messageOf } from '../../model/error.ts';
import { startThread } from './store-thread.ts';
import type { DatabaseFiles } from './thread/database/files.ts';
import type { Copied } from './thread/values/values-messages.ts';

/** How often a copy is made; the first one comes soon, and one that failed is tried again earlier. */
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

  /** Takes over how old the copy is that is there already; undefined: there is none. */
  plan(now: number, ageMs: number | undefined): void {
    this.#dueAt = now + (ageMs === undefined ? firstMs : Math.max(0, copyEveryMs - ageMs));
  }

  /** Why there is no copy of the last hour; undefined: there is, or none was to be made yet. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  isDue(now: number): boolean {
    return now >= this.#dueAt && this.#worker === undefined;
  }

  /** Makes a copy now; `now` tells the time when it is done. Never rejects. */
  async make(now: () => number): Promise<Copied> {
    const copied = await this.#copy();
    this.#worker = undefined;
    this.#trouble = copied.state === 'copied' ? undefined : `there is no copy of the last hour: ${copied.reason}`;
    this.#dueAt = now() + (copied.state === 'copied' ? copyEveryMs : againMs);
    return copied;
  }

  #copy(): Promise<Copied> {
    const { promise, resolve } = Promise.withResolvers<Copied>();
    const fail = (error: unknown) => resolve({ state: 'failed', reason: messageOf(error) });
    try {
      const worker = startThread('copy-thread', { workerData: this.#files });
      this.#worker = worker;
      worker.once('message', resolve).once('error', fail);
      worker.once('exit', () => fail('its thread was ended'));
    } catch (error) {
      fail(error); // there are too many threads, or no memory for one
    }
    return promise;
  }

  async end(): Promise<void> {
    await this.#worker?.terminate();
  }
}
