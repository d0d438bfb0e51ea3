// Reads rows that somebody may have edited. SQLite has integers that JavaScript has not: one of them would stop all that is read with it.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { lastTimeMs } from '../../../../model/time/iso-time.ts';

type Argument = string | number;

/** All rows, as arrays. An integer that is too large for JavaScript comes as the number next to it. Errors: those of SQLite. */
export function readRows(statement: StatementSync, ...values: readonly Argument[]): unknown[][] {
  statement.setReturnArrays(true);
  const read = () => statement.all(...values) as unknown as unknown[][];
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
export function isTooLarge(error: unknown): boolean {
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
