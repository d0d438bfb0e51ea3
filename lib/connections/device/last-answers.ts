// A cache with the last HTTP answer to each question. Polls often receive the same bytes again, which then need not be decoded and parsed
// again.

import type { HttpMessage } from '../../device/http-message.ts';
import type { HttpHead } from '../../device/transport.ts';

/** The maximum length of a question and of a body in the cache, and the maximum total length, in bytes. */
const maxQuestionLength = 1024;
const maxBodyBytes = 65_536;
const maxKeptBytes = 262_144;

interface Answer {
  readonly body: Uint8Array;
  message: HttpMessage;
}

export class LastAnswers {
  readonly #answers = new Map<string, Answer>();
  #bytes = 0;

  /** Returns the answer to a question. `read` decodes the body unless it equals the body of the last answer. */
  read(question: string, body: Uint8Array, head: HttpHead, read: () => HttpMessage): HttpMessage {
    if (body.length === 0) return read(); // for example, an answer with status 304
    const last = this.#answers.get(question);
    if (last !== undefined && areEqual(last.body, body)) {
      last.message = last.message.withHead(head); // with the new headers, because a message is parsed only when a pattern needs it
      return last.message;
    }
    const message = read();
    if (last !== undefined) this.#drop(question, last);
    if (question.length <= maxQuestionLength && body.length <= maxBodyBytes) this.#keep(question, body, message);
    return message;
  }

  clear(): void {
    this.#answers.clear();
    this.#bytes = 0;
  }

  #keep(question: string, body: Uint8Array, message: HttpMessage): void {
    this.#bytes += question.length + body.length;
    if (this.#bytes > maxKeptBytes) {
      this.clear();
      this.#bytes = question.length + body.length;
    }
    this.#answers.set(question, { body: body.slice(), message }); // a copy, because the body may be a small part of a large buffer
  }

  #drop(question: string, { body }: Answer): void {
    this.#answers.delete(question);
    this.#bytes -= question.length + body.length;
  }
}

function areEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && Buffer.compare(one, other) === 0;
}
