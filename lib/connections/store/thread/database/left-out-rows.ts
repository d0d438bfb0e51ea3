// Rows that a database cannot take, such as a number that is none of its column. One of them stops none of the others: it is left out and
// counted, and the first one of a batch is named.

import { messageOf } from '../../../../model/error.ts';
import type { LeftOut } from '../values/messages.ts';

/** SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH: it is the row, not the disk. */
const codesOfRows = [18, 19, 20];

export class LeftOutRows {
  #count = 0;
  #first = '';

  /** What was left out since this was asked last; undefined: nothing was. */
  take(): LeftOut | undefined {
    const leftOut = this.#count === 0 ? undefined : { count: this.#count, first: this.#first };
    this.forget();
    return leftOut;
  }

  /** What was written is to be written again. */
  forget(): void {
    this.#count = 0;
    this.#first = '';
  }

  /** Takes what went wrong with a row; `name` is what people know it by. Errors: it is no fault of the row, but of the whole database. */
  note(name: string, error: unknown): void {
    if (!isOfRow(error)) throw error;
    this.#first ||= `${name}: ${messageOf(error)}`;
    this.#count++;
  }
}

/** Whether a row was refused before it came to the disk: by what makes it, by Node.js, or by the tables. */
function isOfRow(error: unknown): boolean {
  const { errcode } = error as { errcode?: number };
  if (errcode !== undefined) return codesOfRows.includes(errcode & 0xff);
  return error instanceof RangeError || error instanceof TypeError || error instanceof SyntaxError;
}
