// Reads rows that somebody may have edited. SQLite has integers that JavaScript has not: one of them would stop all that is read with it.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { messageOf } from '../../../../model/error.ts';
import { lastTimeMs } from '../../../../model/time/iso-time.ts';
import type { LeftOut } from '../values/values-messages.ts';

type Argument = string | number;

/** All rows, as arrays. An integer that is too large for JavaScript comes as the number next to it. Errors: those of SQLite. */
export function readRows<Row extends readonly unknown[] = unknown[]>(
  statement: StatementSync,
  ...values: readonly Argument[]
): Row[] {
  return readArrays(statement, values) as unknown[] as Row[];
}

function readArrays(statement: StatementSync, values: readonly Argument[]): unknown[][] {
  statement.setReturnArrays(true);
  const read = () => statement.all(...values) as unknown[] as unknown[][];
  try {
    return read();
  } catch (error) {
    if (!isTooLarge(error)) throw error;
  }
  statement.setReadBigInts(true);
  try {
    return read().map((row) => row.map((column) => (typeof column === 'bigint' ? Number(column) : column)));
  } finally {
    statement.setReadBigInts(false);
  }
}

/** Whether an error is that JavaScript has no such integer. */
function isTooLarge(error: unknown): boolean {
  return (error as { code?: string }).code === 'ERR_OUT_OF_RANGE';
}

/** What a column of numbers has: a count, milliseconds or hours since 1970, or any number. */
type NumberKind = 'count' | 'time' | 'hour' | 'integer';

/** A count grows from row to row: behind the last one there is still room. */
const ranges: Readonly<Record<NumberKind, readonly [least: number, greatest: number]>> = {
  count: [0, 2 ** 52],
  time: [-lastTimeMs, lastTimeMs],
  hour: [-lastTimeMs / 3_600_000, lastTimeMs / 3_600_000 - 1],
  integer: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
};

/** A condition that a column has such a number. */
export function isWithin(kind: NumberKind, column: string): string {
  return `${column} BETWEEN ${ranges[kind].join(' AND ')}`;
}

/** Columns of a table with numbers of one kind. */
export type NumberColumns = readonly [table: string, kind: NumberKind, ...columns: string[]];

/** Deletes rows with a number that no hub has written, and returns how many there were. Errors: those of SQLite. */
export function dropOutOfRange(database: DatabaseSync, all: readonly NumberColumns[]): number {
  let dropped = 0;
  for (const [table, kind, ...columns] of all) {
    const [least, greatest] = ranges[kind];
    for (const column of columns)
      for (const outside of [`< ${least}`, `> ${greatest}`]) // each of the two finds its rows by an index
        dropped += Number(database.prepare(`DELETE FROM ${table} WHERE ${column} ${outside}`).run().changes);
  }
  return dropped;
}

/** What is said of them: `audit.db has 2 rows with a number that no hub has written, they are dropped`. */
export function droppedText(path: string, dropped: number): string[] {
  if (dropped === 0) return [];
  const rows = dropped === 1 ? 'a row' : `${dropped} rows`;
  return [`${path} has ${rows} with a number that no hub has written, dropped as it was opened`];
}

// SQLite gives a text back up to its first NUL, but bytes as they are: so a text with a NUL is stored as its bytes, in UTF-8.

export function storedText(text: string): string | Uint8Array {
  return text.includes('\0') ? Buffer.from(text) : text;
}

/** What was stored, with the text that bytes stand for. */
export function readStored<Stored>(stored: Stored | Uint8Array): Stored | string {
  return stored instanceof Uint8Array ? Buffer.from(stored).toString() : stored;
}

// Rows that a database cannot take, such as a number that is none of its column. One of them stops none of the others: it is left out and
// counted, and the first one of a batch is named.

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
