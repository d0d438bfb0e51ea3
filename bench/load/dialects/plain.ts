// The plain socket of the hub, and relays: a text frame per change in, the same out. What comes is known to the byte.

import type { ExpectedStream } from '../received/expected-stream.ts';
import { filteredGroup } from '../sockets/filtered-groups.ts';
import { createChanges } from '../writes/changes.ts';
import type { Dialect, Receiver } from './dialect.ts';

/** Creates the dialect for changes of a parameter in batches; a socket hears of all there is, or of what a filter lets through. */
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

/** Compares every byte with the stream that must come. */
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

  /** Takes bytes that are what comes next; false when they are not. */
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
