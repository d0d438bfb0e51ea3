// Reads the rows of `values.db`, and leaves out those whose checksum says that they are not as they were written. Whoever edits a
// database may also write a checksum that is right, and the first version had none: so what is read is looked at, too.

import type { DatabaseSync } from 'node:sqlite';
import { isTime } from '../../../../model/time/iso-time.ts';
import { isValueOf, type ValueType, valueTypes } from '../../../../model/value.ts';
import type { KeptMemory } from '../../../keeping.ts';
import { readRows } from '../database/read-rows.ts';
import { readStored } from '../database/stored-text.ts';
import { checksumOf, hasChecksums } from './checksum.ts';
import type { ValueRow } from './messages.ts';

/**
 * Reads what is whole, oldest first, and names what is not. A hub waits for it, and the thread has just begun: each row stays the
 * array that SQLite has made, and is ordered here, which takes less time. Errors: those of SQLite.
 */
export function readValues(database: DatabaseSync, damaged: string[]): ValueRow[] {
  const isChecked = hasChecksums(database);
  const added = isChecked ? 'causes, checksum' : "'', 0";
  const values: unknown[][] = [];
  for (const row of readRows(database.prepare(`SELECT address, type, value, time, ${added} FROM parameter`))) {
    const checksum = row.pop();
    row[2] = readStored(row[2]);
    const isAsWritten = !isChecked || checksum === checksumOf(row);
    if (row[1] === 'B') row[2] = booleans.get(row[2]);
    if (isAsWritten && isRow(row)) values.push(row);
    else damaged.push(`${row[0]}`);
  }
  return (values as unknown as ValueRow[]).sort((a, b) => a[3] - b[3]);
}

/** As they are stored. */
const booleans = new Map<unknown, boolean>([
  [0, false],
  [1, true],
]);

function isRow([, type, value, time]: readonly unknown[]): boolean {
  return valueTypes.includes(type as ValueType) && isValueOf(type as ValueType, value) && isTime(time);
}

/** As `readValues`, of what was under way. */
export function readMemories(database: DatabaseSync, damaged: string[]): KeptMemory[] {
  const isChecked = hasChecksums(database);
  const rows = readRows(
    database.prepare(`SELECT connection, name, memory, ${isChecked ? 'checksum' : 0} FROM under_way`),
  );
  return (rows as unknown as [string, string, string, number][]).flatMap(([connection, name, text, checksum]) => {
    if (!isChecked || checksum === checksumOf([connection, name, text])) return readMemory(connection, name, text);
    damaged.push(`${connection}/${name} (under way)`);
    return [];
  });
}

/** The first version may hold what is no JSON. */
function readMemory(connection: string, name: string, text: string): KeptMemory[] {
  try {
    return [{ connection, name, memory: JSON.parse(text) }];
  } catch {
    return [];
  }
}
