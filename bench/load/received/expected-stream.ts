// The bytes that every socket must receive: a cycle that repeats for ever. What arrives is compared in memory, piece by
// piece as it comes, so that checking every byte costs a load process next to nothing.

const toldBytes = 40;

export class ExpectedStream {
  readonly #cycle: Buffer;
  /** Where each part of the cycle ends. */
  readonly #ends: readonly number[];

  /** `parts` are the frames, or answers, of one cycle. Errors: `RangeError` when there is none. */
  constructor(parts: readonly Buffer[]) {
    if (parts.length === 0) throw new RangeError('expected at least one part, got none');
    let end = 0;
    this.#ends = parts.map((part) => {
      end += part.length;
      return end;
    });
    this.#cycle = Buffer.concat(parts);
  }

  /** How many bytes the first `count` parts have. */
  bytesOf(count: number): number {
    const rest = count % this.#ends.length;
    const cycles = (count - rest) / this.#ends.length;
    return cycles * this.#cycle.length + (rest === 0 ? 0 : this.#ends[rest - 1]!);
  }

  /** Whether the first `length` bytes of the chunk are what comes at `position` of the stream. */
  matches(chunk: Uint8Array, length: number, position: number): boolean {
    let from = position % this.#cycle.length;
    for (let at = 0; at < length; from = 0) {
      const part = Math.min(length - at, this.#cycle.length - from);
      if (this.#cycle.compare(chunk, at, at + part, from, from + part) !== 0) return false;
      at += part;
    }
    return true;
  }

  /** Whether a part ends, and the next begins, at `position` of the stream. */
  isBetweenParts(position: number): boolean {
    const place = position % this.#cycle.length;
    return place === 0 || this.#ends.includes(place);
  }

  /** Says where a chunk that does not match first differs, what should have come there and what came. */
  differenceAt(position: number, chunk: Buffer, length: number): string {
    let at = 0;
    while (at < length && this.matches(chunk.subarray(at), 1, position + at)) at++;
    const from = (position + at) % this.#cycle.length;
    const expected = printable(this.#cycle.toString('latin1', from, from + toldBytes));
    const came = printable(chunk.toString('latin1', at, Math.min(length, at + toldBytes)));
    return `byte ${position + at}: expected ${expected}, got ${came}`;
  }
}

/** Heads of frames as dots. */
function printable(bytes: string): string {
  return bytes.replace(/[^ -~]/g, '·');
}
