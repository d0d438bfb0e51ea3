// The bytes that every socket must receive: a cycle that repeats forever. Data is compared in memory as it arrives, chunk by chunk, so
// checking every byte costs a load process next to nothing.

const toldBytes = 40;

export class ExpectedStream {
  readonly #cycle: Buffer;
  /** Where each part of the cycle ends. */
  readonly #ends: readonly number[];

  /** `parts` are the frames or responses of one cycle. Errors: `RangeError` when there are none. */
  constructor(parts: readonly Buffer[]) {
    if (parts.length === 0) throw new RangeError('expected at least one part, got none');
    let end = 0;
    this.#ends = parts.map((part) => {
      end += part.length;
      return end;
    });
    this.#cycle = Buffer.concat(parts);
  }

  /** Length of the first `count` parts in bytes. */
  bytesOf(count: number): number {
    const rest = count % this.#ends.length;
    const cycles = (count - rest) / this.#ends.length;
    return cycles * this.#cycle.length + (rest === 0 ? 0 : this.#ends[rest - 1]!);
  }

  /** Whether the first `length` bytes of the chunk match the stream at `position`. */
  matches(chunk: Uint8Array, length: number, position: number): boolean {
    let from = position % this.#cycle.length;
    for (let at = 0; at < length; from = 0) {
      const part = Math.min(length - at, this.#cycle.length - from);
      if (this.#cycle.compare(chunk, at, at + part, from, from + part) !== 0) return false;
      at += part;
    }
    return true;
  }

  /** Whether `position` lies on the boundary between two parts of the stream. */
  isBetweenParts(position: number): boolean {
    const place = position % this.#cycle.length;
    return place === 0 || this.#ends.includes(place);
  }

  /** Describes the first difference in a chunk that does not match: its position, the expected bytes and the received ones. */
  differenceAt(position: number, chunk: Buffer, length: number): string {
    let at = 0;
    while (at < length && this.matches(chunk.subarray(at), 1, position + at)) at++;
    const from = (position + at) % this.#cycle.length;
    const expected = printable(this.#cycle.toString('latin1', from, from + toldBytes));
    const came = printable(chunk.toString('latin1', at, Math.min(length, at + toldBytes)));
    return `byte ${position + at}: expected ${expected}, got ${came}`;
  }
}

/** Shows non-printable bytes, such as frame headers, as dots. */
function printable(bytes: string): string {
  return bytes.replace(/[^ -~]/g, '·');
}
