// Reads rows that a user may have edited. SQLite supports larger integers than JavaScript, and a single such integer would make the whole
// query fail.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { counted } from '../../../../model/digits.ts';
import { messageOf } from '../../../../model/error.ts';
import { lastTimeMs } from '../../../../model/time/iso-time.ts';
import type { LeftOut } from '../values/values-messages.ts';

type Argument = string | number;

/**
 * Returns all rows of a query as arrays. An integer that is too large for JavaScript is rounded to the nearest number. Errors: any SQLite
 * error.
 */
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

/** Parses a list that is stored as JSON in a column. Returns an empty list if the JSON is not a list. */
export function readList(json: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(json);
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

/** Returns whether an error means that an integer was too large for JavaScript. */
function isTooLarge(error: unknown): boolean {
  return (error as { code?: string }).code === 'ERR_OUT_OF_RANGE';
}

/** The kind of numbers in a column: counts, milliseconds or hours since 1970, or any integers. */
type NumberKind = 'count' | 'time' | 'hour' | 'integer';

/** The range of each kind of number. The range of a count leaves space for further rows. */
const ranges: Readonly<Record<NumberKind, readonly [least: number, greatest: number]>> = {
  count: [0, 2 ** 52],
  time: [-lastTimeMs, lastTimeMs],
  hour: [-lastTimeMs / 3_600_000, lastTimeMs / 3_600_000 - 1],
  integer: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
};

/** Returns an SQL condition that is true if the number in a column is within the range of its kind. */
export function isWithin(kind: NumberKind, column: string): string {
  return `${column} BETWEEN ${ranges[kind].join(' AND ')}`;
}

/** Columns of a table that contain the same kind of number. */
export type NumberColumns = readonly [table: string, kind: NumberKind, ...columns: string[]];

/** Deletes rows in which a number is out of range, and returns how many were deleted. Errors: any SQLite error. */
export function dropOutOfRange(database: DatabaseSync, all: readonly NumberColumns[]): number {
  let dropped = 0;
  for (const [table, kind, ...columns] of all) {
    const [least, greatest] = ranges[kind];
    for (const column of columns)
      for (const outside of [`< ${least}`, `> ${greatest}`]) // each of the two conditions can use an index
        dropped += Number(database.prepare(`DELETE FROM ${table} WHERE ${column} ${outside}`).run().changes);
  }
  return dropped;
}

/** Returns a sentence about deleted rows, if any: `dropped 2 rows of audit.db with a number out of range`. */
export function droppedText(path: string, dropped: number): string[] {
  if (dropped === 0) return [];
  return [`dropped ${counted(dropped, 'row')} of ${path} with a number out of range`];
}

/**
 * Deletes damaged rows, and returns how many were deleted. `areWhole` is an SQL condition that is true if JavaScript can represent the
 * numbers in a row; `isWhole` checks the checksum.
 */
export function dropDamaged<Row extends readonly unknown[]>(
  database: DatabaseSync,
  table: string,
  keys: readonly string[],
  columns: string,
  areWhole: string,
  isWhole: (row: Row) => boolean,
): number {
  let dropped = Number(database.prepare(`DELETE FROM ${table} WHERE NOT (${areWhole})`).run().changes);
  const select = database.prepare(`SELECT ${keys.join()}, ${columns} FROM ${table}`);
  select.setReturnArrays(true);
  const damaged: Argument[][] = [];
  for (const row of select.iterate() as Iterable<unknown> as Iterable<Argument[]>)
    if (!isWhole(row.slice(keys.length) as unknown[] as unknown as Row)) damaged.push(row.slice(0, keys.length));
  const drop = database.prepare(`DELETE FROM ${table} WHERE ${keys.map((key) => `${key} = ?`).join(' AND ')}`);
  for (const key of damaged) dropped += Number(drop.run(...key).changes);
  return dropped;
}

/** Returns a sentence about damaged rows, if any: `lost the entries in 2 damaged rows of audit.db`. */
export function damagedText(path: string, damaged: number, what: string): string[] {
  if (damaged === 0) return [];
  return [`lost the ${what} in ${counted(damaged, 'damaged row')} of ${path}`];
}

// SQLite returns a string only up to the first NUL, but all bytes of a blob. Strings that contain a NUL are therefore stored as UTF-8
// bytes.

export function storedText(text: string): string | Uint8Array {
  return text.includes('\0') ? Buffer.from(text) : text;
}

/** Returns a stored value; bytes are decoded to a string. */
export function readStored<Stored>(stored: Stored | Uint8Array): Stored | string {
  return stored instanceof Uint8Array ? Buffer.from(stored).toString() : stored;
}

// Counts the rows that a database refuses, for example because a number has the wrong type. Such a row is omitted, and all other rows are
// still written. The first such row in a batch is named.

/**
 * The SQLite error codes SQLITE_TOOBIG, SQLITE_CONSTRAINT and SQLITE_MISMATCH, which mean that the row is the cause of the error, not the
 * disk.
 */
const codesOfRows = [18, 19, 20];

export class LeftOutRows {
  #count = 0;
  #first = '';

  /** Returns how many rows were omitted since the last call, and the first of them; undefined if no rows were omitted. */
  take(): LeftOut | undefined {
    const leftOut = this.#count === 0 ? undefined : { count: this.#count, first: this.#first };
    this.forget();
    return leftOut;
  }

  /** Forgets the omitted rows, because the batch will be written again. */
  forget(): void {
    this.#count = 0;
    this.#first = '';
  }

  /**
   * Counts a row that the database has refused; `name` identifies the row for people. Throws the error if it concerns the whole database.
   */
  note(name: string, error: unknown): void {
    if (!isOfRow(error)) throw error;
    this.#first ||= `${name}: ${messageOf(error)}`;
    this.#count++;
  }
}

/**
 * Returns whether a row caused an error. Such an error occurs before anything is written: when the row is created, in Node.js, or in the
 * tables.
 */
function isOfRow(error: unknown): boolean {
  const { errcode } = error as { errcode?: number };
  if (errcode !== undefined) return codesOfRows.includes(errcode & 0xff);
  return error instanceof RangeError || error instanceof TypeError || error instanceof SyntaxError;
}
