// The database of values, `values.db`: tables that people read with any tool, and one transaction per batch.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type Value, type ValueType, valueTypes } from '../../../model/value.ts';
import type { Batch, Held } from './messages.ts';
import { readSnapshots, snapshotTables, writeSnapshots } from './snapshot-tables.ts';
import {
  checkDatabase,
  createDatabase,
  inTransaction,
  OpenFile,
  openDatabase,
  readDatabase,
} from './store-database.ts';

const tables = `
  CREATE TABLE IF NOT EXISTS parameter (
    address TEXT PRIMARY KEY, type TEXT NOT NULL, value ANY NOT NULL, time INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS under_way (
    connection TEXT NOT NULL, name TEXT NOT NULL, memory TEXT NOT NULL, PRIMARY KEY (connection, name)
  ) STRICT, WITHOUT ROWID;${snapshotTables}`;

const putValue = `INSERT INTO parameter VALUES (?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET type = excluded.type, value = excluded.value, time = excluded.time`;
const putMemory = `INSERT INTO under_way VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET memory = excluded.memory`;
const dropMemory = 'DELETE FROM under_way WHERE connection = ? AND name = ?';

export class ValuesDatabase {
  readonly #file: OpenFile;
  readonly #database: DatabaseSync;
  readonly #putValue: StatementSync;
  readonly #putMemory: StatementSync;
  readonly #dropMemory: StatementSync;

  /** Opens a database that was checked. Errors: those of SQLite; nothing is open then. */
  constructor(path: string, maxBytes: number) {
    this.#database = openDatabase(path, maxBytes);
    try {
      this.#file = new OpenFile(path);
      this.#putValue = this.#database.prepare(putValue);
      this.#putMemory = this.#database.prepare(putMemory);
      this.#dropMemory = this.#database.prepare(dropMemory);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Creates an empty database. Errors: those of SQLite and of the file system. */
  static create(path: string): void {
    createDatabase(path, tables);
  }

  /**
   * Checks a database and reads it, values and what is under way where these are wanted; it stays as it is. Errors: those of SQLite,
   * `DamagedError`.
   */
  static check(path: string, isRead: boolean): Held {
    const database = readDatabase(path);
    try {
      checkDatabase(database);
      const snapshots = readSnapshots(database);
      return isRead ? { ...readAll(database), snapshots } : { values: [], memories: [], snapshots };
    } finally {
      database.close();
    }
  }

  /** Writes a batch as a whole or not at all; once it returns, it is on the disk. Errors: those of SQLite, `DamagedError`. */
  write({ values, memories, snapshots }: Batch): void {
    this.#file.expectInPlace();
    inTransaction(this.#database, () => {
      for (const [address, type, value, time] of values)
        this.#putValue.run(address, type, stored(type, value), BigInt(Math.trunc(time)));
      for (const [connection, name, memory] of memories)
        if (memory === undefined) this.#dropMemory.run(connection, name);
        else this.#putMemory.run(connection, name, memory);
      if (snapshots !== undefined) writeSnapshots(this.#database, snapshots);
    });
  }

  /** Forgets every value whose address is not one of these. Errors: as `write`. */
  keepOnly(addresses: readonly string[]): void {
    const kept = new Set(addresses);
    const drop = this.#database.prepare('DELETE FROM parameter WHERE address = ?');
    const known = this.#database.prepare('SELECT address FROM parameter').all() as { address: string }[];
    inTransaction(this.#database, () => {
      for (const { address } of known) if (!kept.has(address)) drop.run(address);
    });
  }

  close(): void {
    this.#database.close();
  }
}

function readAll(database: DatabaseSync): Pick<Held, 'values' | 'memories'> {
  const rows = database.prepare('SELECT address, type, value, time FROM parameter ORDER BY time').all() as unknown as {
    address: string;
    type: ValueType;
    value: string | number;
    time: number;
  }[];
  const memories = database.prepare('SELECT connection, name, memory FROM under_way').all() as unknown as {
    connection: string;
    name: string;
    memory: string;
  }[];
  return {
    values: rows
      .filter(({ type }) => valueTypes.includes(type))
      .map(({ address, type, value, time }) => ({ address, value: type === 'B' ? value === 1 : value, time })),
    memories: memories.flatMap(({ connection, name, memory }) => {
      const data = readJson(memory);
      return data === undefined ? [] : [{ connection, name, memory: data }];
    }),
  };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Integers and booleans as integers: SQLite would take each number of JavaScript for a float. */
function stored(type: ValueType, value: Value): string | number | bigint {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return type === 'I' ? BigInt(value) : value;
}
