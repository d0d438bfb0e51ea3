// Reads the rows of `values.db`, and leaves out those whose checksum says that they are not as they were written.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type ValueType, valueTypes } from '../../../model/value.ts';
import type { KeptMemory } from '../../keeping.ts';
import { checksumOf, hasChecksums } from './checksum.ts';
import type { ValueRow } from './messages.ts';

/** A text with a NUL in it is stored as bytes. */
type Stored = string | number | Uint8Array;
type Row = readonly (Stored | null)[];

/** Reads what is whole, and names what is not. Errors: those of SQLite. */
export function readValues(database: DatabaseSync, damaged: string[]): ValueRow[] {
  const isChecked = hasChecksums(database);
  const added = isChecked ? 'causes, checksum' : "'', 0";
  const rows = rowsOf(database.prepare(`SELECT address, type, value, time, ${added} FROM parameter ORDER BY time`));
  const values: ValueRow[] = [];
  for (const row of rows) {
    const [address, type, stored, time, causes, checksum] = row as [string, ValueType, Stored, number, string, number];
    const value = stored instanceof Uint8Array ? Buffer.from(stored).toString() : stored;
    if (isChecked && checksum !== checksumOf(address, type, value, time, causes)) damaged.push(address);
    else if (valueTypes.includes(type)) values.push([address, type, type === 'B' ? value === 1 : value, time, causes]);
  }
  return values;
}

/** As `readValues`, of what was under way. */
export function readMemories(database: DatabaseSync, damaged: string[]): KeptMemory[] {
  const isChecked = hasChecksums(database);
  const rows = rowsOf(
    database.prepare(`SELECT connection, name, memory, ${isChecked ? 'checksum' : 0} FROM under_way`),
  );
  return (rows as [string, string, string, number][]).flatMap(([connection, name, text, checksum]) => {
    if (!isChecked || checksum === checksumOf(connection, name, text)) return readMemory(connection, name, text);
    damaged.push(`${connection}/${name} (under way)`);
    return [];
  });
}

/** A number that has become too large for JavaScript was damaged: it is read as another one, and its row is found out. */
function rowsOf(statement: StatementSync): Row[] {
  statement.setReturnArrays(true);
  const read = () => statement.all() as unknown as readonly (readonly (Stored | bigint | null)[])[];
  try {
    return read() as Row[];
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
