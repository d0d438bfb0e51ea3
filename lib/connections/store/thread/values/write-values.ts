// Writes the rows of `values.db`, each with a checksum of its other columns.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ValueType } from '../../../../model/value.ts';
import { storedText } from '../database/stored-text.ts';
import { giveWay } from '../give-way.ts';
import { checksumOf } from './checksum.ts';
import type { Batch } from './messages.ts';
import { writeSnapshots } from './snapshot-tables.ts';

const putValue = `INSERT INTO parameter VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
  type = excluded.type, value = excluded.value, time = excluded.time, causes = excluded.causes, checksum = excluded.checksum`;
const putMemory = `INSERT INTO under_way VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET
  memory = excluded.memory, checksum = excluded.checksum`;
const dropMemory = 'DELETE FROM under_way WHERE connection = ? AND name = ?';

export class RowWriter {
  readonly #database: DatabaseSync;
  readonly #putValue: StatementSync;
  readonly #putMemory: StatementSync;
  readonly #dropMemory: StatementSync;

  /** Errors: those of SQLite. */
  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#putValue = database.prepare(putValue);
    this.#putMemory = database.prepare(putMemory);
    this.#dropMemory = database.prepare(dropMemory);
  }

  /** To be called in a transaction. Errors: those of SQLite. */
  write({ values, memories, snapshots }: Batch): void {
    for (const [address, type, value, time, causes] of values) {
      giveWay();
      const number = typeof value === 'boolean' ? Number(value) : value;
      const checksum = checksumOf([address, type, number, time, causes]);
      this.#putValue.run(address, type, stored(type, number), BigInt(time), causes, checksum);
    }
    for (const [connection, name, memory] of memories)
      if (memory === undefined) this.#dropMemory.run(connection, name);
      else this.#putMemory.run(connection, name, memory, checksumOf([connection, name, memory]));
    if (snapshots !== undefined) writeSnapshots(this.#database, snapshots);
  }
}

/** Integers and booleans as integers: SQLite would take each number for a float. */
function stored(type: ValueType, value: string | number): string | bigint | number | Uint8Array {
  if (typeof value === 'string') return storedText(value);
  return type === 'F' ? value : BigInt(value);
}
