// The expected responses to pipelined requests: identical bytes except for the Date header, which a server updates every second.

import { ExpectedStream } from './expected-stream.ts';

const datePattern = /\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT/;

export class ExpectedAnswers {
  /** Length of one response in bytes. */
  readonly bytes: number;
  readonly #answer: Buffer;
  readonly #dateStart: number;
  readonly #dateEnd: number;
  readonly #count: number;
  #stream: ExpectedStream;

  /** `answer` is one complete response, `count` the number of responses compared at once. */
  constructor(answer: string, count: number) {
    this.#answer = Buffer.from(answer, 'latin1');
    this.bytes = this.#answer.length;
    const date = datePattern.exec(answer);
    this.#dateStart = date?.index ?? 0;
    this.#dateEnd = this.#dateStart + (date?.[0].length ?? 0);
    this.#count = count;
    this.#stream = this.#repeat();
  }

  /** Whether the first `length` bytes of the chunk match the responses at `position`, whatever their dates. */
  matches(chunk: Buffer, length: number, position: number): boolean {
    return this.#stream.matches(chunk, length, position) || this.#matchesWithOtherDate(chunk, length, position);
  }

  /** Compares everything but the dates; the last complete date is the one expected from then on. */
  #matchesWithOtherDate(chunk: Buffer, length: number, position: number): boolean {
    const undated = Buffer.from(chunk.subarray(0, length));
    const first = position - (position % this.bytes);
    let cameWhole: Buffer | undefined;
    for (let answer = first; answer < position + length; answer += this.bytes) {
      const start = answer + this.#dateStart - position;
      const end = answer + this.#dateEnd - position;
      const from = Math.max(0, start);
      const to = Math.min(length, end);
      if (from >= to) continue;
      this.#answer.copy(undated, from, this.#dateStart + from - start, this.#dateStart + to - start);
      if (from > start || to < end) continue;
      cameWhole = chunk.subarray(start, end);
      if (!datePattern.test(cameWhole.toString('latin1'))) return false;
    }
    if (!this.#stream.matches(undated, length, position)) return false;
    if (cameWhole === undefined) return true;
    cameWhole.copy(this.#answer, this.#dateStart);
    this.#stream = this.#repeat();
    return true;
  }

  #repeat(): ExpectedStream {
    return new ExpectedStream(Array.from({ length: this.#count }, () => this.#answer));
  }
}
