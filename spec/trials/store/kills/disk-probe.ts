// How long the disk takes to keep something, asked again and again beside the hub: what the hub promises holds while that is quick.

import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';

const page = Buffer.alloc(4096, 1);
const pauseMs = 20;

export class DiskProbe {
  readonly #file: FileHandle;
  #slowestMs = 0;
  #begunAt = Number.NaN;
  #isStopped = false;
  readonly #asking: Promise<void>;

  private constructor(file: FileHandle) {
    this.#file = file;
    this.#asking = this.#ask();
  }

  /** Begins to ask the disk that a folder is on. */
  static async start(folder: string): Promise<DiskProbe> {
    return new DiskProbe(await open(join(folder, 'probe'), 'w'));
  }

  /** How long it has taken at most since the last call, in milliseconds, with what it has not answered yet. */
  takeSlowestMs(): number {
    const slowestMs = Math.max(this.#slowestMs, performance.now() - this.#begunAt || 0);
    this.#slowestMs = 0;
    return slowestMs;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#asking;
    await this.#file.close();
  }

  async #ask(): Promise<void> {
    while (!this.#isStopped) {
      this.#begunAt = performance.now();
      await this.#file.write(page, 0, page.length, 0);
      await this.#file.datasync();
      this.#slowestMs = Math.max(this.#slowestMs, performance.now() - this.#begunAt);
      this.#begunAt = Number.NaN;
      await after(pauseMs);
    }
  }
}
