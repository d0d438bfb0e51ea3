// Writes to random parameters at a constant rate, one change at a time, and can be paused.

import { setTimeout as after } from 'node:timers/promises';
import type { PictureReader } from '../../../spec/support/load/picture.ts';
import { openV1Socket, type V1Socket } from '../../../spec/support/load/v1-socket.ts';
import type { Watch } from '../../../spec/support/load/watch.ts';
import type { Truth } from '../received/truth.ts';

const tickMs = 1;
/** Writes per message, whose length is limited; after a stall the backlog goes out with the following messages. */
const maxWrites = 1000;
const deadlineMs = 20_000;

export class RandomWriter {
  readonly #parameters: number;
  readonly #reader: PictureReader;
  readonly #truth: Truth;
  readonly #watch: Watch;
  #socket!: V1Socket;
  #acknowledged = () => {};
  #isResting = false;
  #isStopped = false;

  static async open(
    port: number,
    parameters: number,
    reader: PictureReader,
    truth: Truth,
    watch: Watch,
  ): Promise<RandomWriter> {
    const writer = new RandomWriter(parameters, reader, truth, watch);
    writer.#socket = await openV1Socket(port, (payload) => writer.#take(payload), watch.fail);
    return writer;
  }

  private constructor(parameters: number, reader: PictureReader, truth: Truth, watch: Watch) {
    this.#parameters = parameters;
    this.#reader = reader;
    this.#truth = truth;
    this.#watch = watch;
  }

  /** Writes until stopped; records each write in the truth. */
  async write(changesPerSecond: number): Promise<void> {
    let lastMs = performance.now();
    while (!this.#isStopped) {
      await after(tickMs);
      if (this.#isResting) {
        lastMs = performance.now();
        continue;
      }
      const due = Math.floor(((performance.now() - lastMs) * changesPerSecond) / 1000);
      const count = Math.min(due, maxWrites);
      lastMs += (count * 1000) / changesPerSecond;
      const set = Array.from({ length: count }, () => {
        const parameter = Math.floor(Math.random() * this.#parameters);
        return [this.#reader.idOf(parameter), this.#truth.write(parameter)] as const;
      });
      if (count > 0) this.#socket.send({ set });
    }
  }

  /** Runs `work` while nothing is being written and every earlier write has been processed. */
  async atRest(work: () => Promise<void>): Promise<void> {
    const { promise: taken, resolve } = Promise.withResolvers<void>();
    this.#acknowledged = resolve;
    this.#isResting = true;
    this.#socket.send({ set: [], ack: this.#truth.writes });
    await this.#watch.within(taken, 'an acknowledgement', deadlineMs);
    await work();
    this.#isResting = false;
  }

  stop(): void {
    this.#isStopped = true;
  }

  #take(payload: Buffer): void {
    const { cache } = this.#reader;
    if (cache.parsedAt(cache.find(payload, 0)).ack !== undefined) this.#acknowledged();
  }
}
