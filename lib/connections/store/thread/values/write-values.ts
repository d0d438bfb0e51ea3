// Writes the rows of `values.db`, each with a checksum of its other columns.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ValueType } from '../../../../model/value.ts';
import type { LeftOutRows } from '../database/left-out-rows.ts';
import { storedText } from '../database/stored-text.ts';
import { giveWay } from '../give-way.ts';
import { checksumOf } from './checksum.ts';
import type { Batch, ValueRow } from './messages.ts';
import { writeSnapshots } from './snapshot-tables.ts';

const putValue = `INSERT INTO parameter VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
  type = excluded.type, value = excluded.value, time = excluded.time, causes = excluded.causes, checksum = excluded.checksum`;
const putMemory = `INSERT INTO under_way VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET
  memory = excluded.memory, checksum = excluded.checksum`;
const dropValue = 'DELETE FROM parameter WHERE address = ?';
const dropMemory = 'DELETE FROM under_way WHERE connection = ? AND name = ?';

export class RowWriter {
  readonly #database: DatabaseSync;
  readonly #putValue: StatementSync;
  readonly #dropValue: StatementSync;
  readonly #leftOut: LeftOutRows;
  readonly #putMemory: StatementSync;
  readonly #dropMemory: StatementSync;

  /** `leftOut` takes what cannot be written. Errors: those of SQLite. */
  constructor(database: DatabaseSync, leftOut: LeftOutRows) {
    this.#database = database;
    this.#leftOut = leftOut;
    this.#dropValue = database.prepare(dropValue);
    this.#putValue = database.prepare(putValue);
    this.#putMemory = database.prepare(putMemory);
    this.#dropMemory = database.prepare(dropMemory);
  }

  /** To be called in a transaction. Errors: those of SQLite. */
  write({ values, memories, snapshots, forgotten = [] }: Batch): void {
    for (const address of forgotten) this.#dropValue.run(address);
    for (const row of values) {
      giveWay();
      try {
        this.#put(row);
      } catch (error) {
        this.#leftOut.note(row[0], error);
        this.#dropValue.run(row[0]); // the one before it is not what it was last
      }
    }
    for (const [connection, name, memory] of memories)
      try {
        if (memory === undefined) this.#dropMemory.run(connection, name);
        else this.#putMemory.run(connection, name, memory, checksumOf([connection, name, memory]));
      } catch (error) {
        this.#leftOut.note(`${connection}/${name} (under way)`, error);
      }
    if (snapshots !== undefined) writeSnapshots(this.#database, snapshots);
  }

  #put([address, type, value, time, causes]: ValueRow): void {
    const number = typeof value === 'boolean' ? Number(value) : value;
    const checksum = checksumOf([address, type, number, time, causes]);
    this.#putValue.run(address, type, stored(type, number), BigInt(time), causes, checksum);
  }
}

/** Integers and booleans as integers: SQLite would take each number for a float. */
function stored(type: ValueType, value: string | number): string | bigint | number | Uint8Array {
  if (typeof value === 'string') return storedText(value);
  return type === 'F' ? value : BigInt(value);
}
