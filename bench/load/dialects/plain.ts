// The hub's plain socket, and relays: one text frame per change in, the same frame out. The expected output is known to the byte.

import { encodeClientText, encodeServerText } from '../../../spec/support/load/web-socket.ts';
import { ExpectedStream } from '../received/expected-stream.ts';
import { type Dialect, filteredGroup, type Receiver } from './dialect.ts';

/** Creates the dialect for batches of changes to one parameter; a socket receives all parameters, or those that match a filter. */
export function createPlainDialect(address: string, batch: number, isFiltered = false): Dialect {
  const changes = createChanges(address, batch);
  const filtered = (index: number) => ({ path: `/ws?filter=${encodeURIComponent(filteredGroup(index).regex)}` });
  return {
    entry: isFiltered ? filtered(0) : { path: '/ws' },
    bystander: filtered,
    batch: (index) => changes.frames(index * batch, batch),
    createReceiver: () => new StreamReceiver(changes.received, batch),
  };
}

/** Compares every byte with the expected stream. */
export class StreamReceiver implements Receiver {
  isReady = true;
  batches = 0;
  readonly #stream: ExpectedStream;
  readonly #batch: number;
  #position = 0;

  constructor(stream: ExpectedStream, batch: number) {
    this.#stream = stream;
    this.#batch = batch;
  }

  read(chunk: Buffer, length: number): Buffer | undefined {
    if (!this.advance(chunk, length)) throw this.difference(chunk, length);
    return undefined;
  }

  countMistake(batches: number): string | undefined {
    const bytes = this.#stream.bytesOf(batches * this.#batch);
    return this.#position === bytes ? undefined : `received ${this.#position} bytes, expected ${bytes} as were sent`;
  }

  /** Advances past bytes that match the expected stream; returns false when they do not. */
  protected advance(chunk: Buffer, length: number): boolean {
    if (!this.#stream.matches(chunk, length, this.#position)) return false;
    this.#position += length;
    while (this.#position >= this.#stream.bytesOf((this.batches + 1) * this.#batch)) this.batches++;
    return true;
  }

  protected get isBetweenChanges(): boolean {
    return this.#stream.isBetweenParts(this.#position);
  }

  protected difference(chunk: Buffer, length: number): Error {
    return new Error(this.#stream.differenceAt(this.#position, chunk, length));
  }
}

export interface Changes {
  /** What one socket receives of these changes. */
  readonly received: ExpectedStream;
  /** The frames for `count` changes from `first` on; `first` is a multiple of `count`. */
  frames(first: number, count: number): Buffer;
  /** The value that a change sets. */
  valueOf(change: number): string;
}

const leastCycle = 4096;

/** Creates changes to one parameter, sent in batches of `batch`; consecutive changes always differ. */
export function createChanges(address: string, batch: number): Changes {
  const batches = Math.ceil(leastCycle / batch);
  const values = Array.from({ length: batches * batch }, (_, index) => String(index / 1000));
  const texts = values.map((v) => JSON.stringify({ p: address, v }));
  const sent = Array.from({ length: batches }, (_, index) =>
    Buffer.concat(texts.slice(index * batch, (index + 1) * batch).map(encodeClientText)),
  );
  return {
    received: new ExpectedStream(texts.map(encodeServerText)),
    frames: (first, count) => sent[(first / count) % batches]!,
    valueOf: (change) => values[change % values.length]!,
  };
}
