// Writes all parameters in turn at an even rate; each value is the time of its write. Several hubs can receive the same writes.

import type { PictureReader } from './picture.ts';
import { openV1Socket, type V1Socket } from './v1-socket.ts';
import type { Watch } from './watch.ts';

const tickMs = 1;
const longestBatch = 2000;
const deadlineMs = 20_000;

/** Where it writes, and a reader that knows the ids of the parameters there. */
export interface Written {
  readonly port: number;
  readonly reader: PictureReader;
}

interface EvenWriterOptions {
  readonly parameters: number;
  /** Changes per second of each parameter. */
  readonly changesPerSecond: number;
  nowMs(): number;
}

/** A hub to write to; `written` resolves once it has accepted everything. */
interface Desk {
  readonly reader: PictureReader;
  readonly socket: V1Socket;
  readonly written: Promise<void>;
}

export class EvenWriter {
  readonly #options: EvenWriterOptions;
  readonly #watch: Watch;
  readonly #newest: Float64Array;
  readonly #startedMs: number;
  readonly #desks: Desk[] = [];
  #sent = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Opens one; it writes from then on. */
  static async open(hubs: readonly Written[], options: EvenWriterOptions, watch: Watch): Promise<EvenWriter> {
    const writer = new EvenWriter(options, watch);
    for (const { port, reader } of hubs) {
      const { promise: written, resolve } = Promise.withResolvers<void>();
      const take = (payload: Buffer) => {
        if (reader.cache.parsedAt(reader.cache.find(payload, 0)).ack !== undefined) resolve();
      };
      writer.#desks.push({ reader, socket: await openV1Socket(port, take, watch.fail), written });
    }
    writer.#writeDue();
    return writer;
  }

  private constructor(options: EvenWriterOptions, watch: Watch) {
    this.#options = options;
    this.#watch = watch;
    this.#newest = new Float64Array(options.parameters);
    this.#startedMs = options.nowMs();
  }

  /** Stops writing; resolves with the newest values once all of them have been accepted. */
  async stop(): Promise<Float64Array> {
    clearTimeout(this.#timer);
    for (const { socket } of this.#desks) socket.send({ set: [], ack: 1 });
    const written = Promise.all(this.#desks.map((desk) => desk.written));
    await this.#watch.within(written, 'an acknowledgement', deadlineMs);
    return this.#newest;
  }

  #writeDue(): void {
    const { parameters, changesPerSecond, nowMs } = this.#options;
    const perMs = (parameters * changesPerSecond) / 1000;
    const due = Math.min(Math.floor((nowMs() - this.#startedMs) * perMs) - this.#sent, longestBatch);
    const value = Math.round(nowMs() * 1000) / 1000;
    const parametersDue = Array.from({ length: due }, (_, index) => (this.#sent + index) % parameters);
    for (const parameter of parametersDue) this.#newest[parameter] = value;
    for (const { reader, socket } of due > 0 ? this.#desks : [])
      socket.send({ set: parametersDue.map((parameter) => [reader.idOf(parameter), value] as const) });
    this.#sent += Math.max(0, due);
    this.#timer = setTimeout(() => this.#writeDue(), tickMs);
  }
}
