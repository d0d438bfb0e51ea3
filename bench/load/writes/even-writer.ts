// A writer of all parameters in turn, evenly: a value is the time at which it was written.

import type { PictureReader } from '../received/picture.ts';
import { openV1Socket, type V1Socket } from '../sockets/v1-socket.ts';
import type { Watch } from '../watch.ts';

const tickMs = 1;
const longestBatch = 2000;
const deadlineMs = 20_000;

export interface EvenWriterOptions {
  readonly parameters: number;
  /** Changes per second of each parameter. */
  readonly changesPerSecond: number;
  nowMs(): number;
}

export class EvenWriter {
  readonly #options: EvenWriterOptions;
  readonly #reader: PictureReader;
  readonly #watch: Watch;
  readonly #newest: Float64Array;
  readonly #startedMs: number;
  readonly #written = Promise.withResolvers<void>();
  #socket!: V1Socket;
  #sent = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Opens one; it writes from then on. */
  static async open(
    port: number,
    reader: PictureReader,
    options: EvenWriterOptions,
    watch: Watch,
  ): Promise<EvenWriter> {
    const writer = new EvenWriter(reader, options, watch);
    writer.#socket = await openV1Socket(port, (payload) => writer.#take(payload), watch.fail);
    writer.#writeDue();
    return writer;
  }

  private constructor(reader: PictureReader, options: EvenWriterOptions, watch: Watch) {
    this.#reader = reader;
    this.#options = options;
    this.#watch = watch;
    this.#newest = new Float64Array(options.parameters);
    this.#startedMs = options.nowMs();
  }

  /** Stops writing; resolves with the newest values once all of them have been taken. */
  async stop(): Promise<Float64Array> {
    clearTimeout(this.#timer);
    this.#socket.send({ set: [], ack: 1 });
    await this.#watch.within(deadlineMs, 'an acknowledgement', this.#written.promise);
    return this.#newest;
  }

  #writeDue(): void {
    const { parameters, changesPerSecond, nowMs } = this.#options;
    const perMs = (parameters * changesPerSecond) / 1000;
    const due = Math.min(Math.floor((nowMs() - this.#startedMs) * perMs) - this.#sent, longestBatch);
    const value = Math.round(nowMs() * 1000) / 1000;
    const set = Array.from({ length: due }, (_, index) => {
      const parameter = (this.#sent + index) % parameters;
      this.#newest[parameter] = value;
      return [this.#reader.idOf(parameter), value] as const;
    });
    if (due > 0) this.#socket.send({ set });
    this.#sent += Math.max(0, due);
    this.#timer = setTimeout(() => this.#writeDue(), tickMs);
  }

  #take(payload: Buffer): void {
    const { cache } = this.#reader;
    if (cache.parsedAt(cache.find(payload, 0)).ack !== undefined) this.#written.resolve();
  }
}
