// Reads the rows of `values.db`, and leaves out those whose checksum says that they are not as they were written.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type ValueType, valueTypes } from '../../../../model/value.ts';
import type { KeptMemory } from '../../../keeping.ts';
import { readStored } from '../database/stored-text.ts';
import { checksumOf, hasChecksums } from './checksum.ts';
import type { ValueRow } from './messages.ts';

type Row = unknown[];

/**
 * Reads what is whole, oldest first, and names what is not. A hub waits for it, and the thread has just begun: each row stays the
 * array that SQLite has made, and is ordered here, which takes less time. Errors: those of SQLite.
 */
export function readValues(database: DatabaseSync, damaged: string[]): ValueRow[] {
  const isChecked = hasChecksums(database);
  const added = isChecked ? 'causes, checksum' : "'', 0";
  const values: unknown[][] = [];
  for (const row of rowsOf(database.prepare(`SELECT address, type, value, time, ${added} FROM parameter`))) {
    const checksum = row.pop();
    row[2] = readStored(row[2]);
    if (isChecked && checksum !== checksumOf(row)) damaged.push(`${row[0]}`);
    else if (valueTypes.includes(row[1] as ValueType)) {
      if (row[1] === 'B') row[2] = row[2] === 1;
      values.push(row);
    }
  }
  return (values as unknown as ValueRow[]).sort((a, b) => a[3] - b[3]);
}

/** As `readValues`, of what was under way. */
export function readMemories(database: DatabaseSync, damaged: string[]): KeptMemory[] {
  const isChecked = hasChecksums(database);
  const rows = rowsOf(
    database.prepare(`SELECT connection, name, memory, ${isChecked ? 'checksum' : 0} FROM under_way`),
  );
  return (rows as unknown as [string, string, string, number][]).flatMap(([connection, name, text, checksum]) => {
    if (!isChecked || checksum === checksumOf([connection, name, text])) return readMemory(connection, name, text);
    damaged.push(`${connection}/${name} (under way)`);
    return [];
  });
}

/** A number that has become too large for JavaScript was damaged: it is read as another one, and its row is found out. */
function rowsOf(statement: StatementSync): Row[] {
  statement.setReturnArrays(true);
  const read = () => statement.all() as unknown as Row[];
  try {
    return read();
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_OUT_OF_RANGE') throw error;
    statement.setReadBigInts(true);
    return read().map((row) => row.map((column) => (typeof column === 'bigint' ? Number(column) : column)));
  }
}

/** The first version may hold what is no JSON. */
function readMemory(connection: string, name: string, text: string): KeptMemory[] {
  try {
    return [{ connection, name, memory: JSON.parse(text) }];
  } catch {
    return [];
  }
}
