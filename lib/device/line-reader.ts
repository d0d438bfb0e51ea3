// Reads lines of text from a stream of bytes. Each line ends with a line feed, or with a carriage return and a line feed.

/** Splits received bytes into lines of text. The length of a line is limited. */
export class LineReader {
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Adds received bytes and returns the lines that are now complete, without their ends. Errors: `Error` if a line is too long. */
  push(bytes: Buffer): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      this.#keep(bytes.subarray(from, end));
      lines.push(Buffer.concat(this.#parts).toString().replace(/\r$/, ''));
      this.#parts = [];
      this.#bytes = 0;
      from = end + 1;
    }
    if (from < bytes.length) this.#keep(bytes.subarray(from));
    return lines;
  }

  #keep(part: Buffer): void {
    this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#bytes > this.#maxBytes) throw new Error(`expected lines of at most ${this.#maxBytes} bytes`);
    if (this.#parts.length >= 64) this.#parts = [Buffer.concat(this.#parts)]; // many small reads
  }
}
