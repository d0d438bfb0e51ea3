// Lines that wait to be written. Their length is bounded, and they are taken out some at a time.

/** How many characters may wait. Once they do, lines are lost until half of them have been written. */
export const maxWaitingLength = 1024 * 1024;
/** How much is written at once, unless one line is longer. */
const maxChunkLength = 64 * 1024;

export class LineBuffer {
  readonly #lines: string[] = [];
  #length = 0;

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  /** Whether half of what may wait is free. */
  get isHalfFree(): boolean {
    return this.#length <= maxWaitingLength / 2;
  }

  hasRoomFor(line: string): boolean {
    return this.#length + line.length <= maxWaitingLength;
  }

  add(line: string): void {
    this.#length += line.length;
    this.#lines.push(line);
  }

  /** Takes the next lines out; an empty buffer if none waits. */
  take(): Buffer {
    let count = 0;
    let length = 0;
    while (count < this.#lines.length && (count === 0 || length + this.#lines[count]!.length <= maxChunkLength))
      length += this.#lines[count++]!.length;
    this.#length -= length;
    return Buffer.from(this.#lines.splice(0, count).join(''));
  }
}
