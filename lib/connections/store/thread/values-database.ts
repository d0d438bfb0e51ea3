// The database of values, `values.db`: tables that people read with any tool, and one transaction per batch.

import { renameSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type Value, type ValueType, valueTypes } from '../../../model/value.ts';
import { sync } from './files.ts';
import type { Batch, Held } from './messages.ts';
import { DamagedError } from './trouble.ts';

/** Names files of ours among all of SQLite: "Ptch". */
const applicationId = 0x50746368;
const version = 1;
/** How long a statement waits for another program that has the database, such as one that looks at it. */
const busyMs = 2000;
/** How large the log before the database stays, in bytes. */
const keptLogBytes = 4 * 1024 * 1024;

const tables = `
  CREATE TABLE IF NOT EXISTS parameter (
    address TEXT PRIMARY KEY, type TEXT NOT NULL, value ANY NOT NULL, time INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS under_way (
    connection TEXT NOT NULL, name TEXT NOT NULL, memory TEXT NOT NULL, PRIMARY KEY (connection, name)
  ) STRICT, WITHOUT ROWID;`;

const putValue = `INSERT INTO parameter VALUES (?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET type = excluded.type, value = excluded.value, time = excluded.time`;
const putMemory = `INSERT INTO under_way VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET memory = excluded.memory`;
const dropMemory = 'DELETE FROM under_way WHERE connection = ? AND name = ?';

export class ValuesDatabase {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #inode: number;
  readonly #putValue: StatementSync;
  readonly #putMemory: StatementSync;
  readonly #dropMemory: StatementSync;

  private constructor(path: string, database: DatabaseSync) {
    this.#path = path;
    this.#database = database;
    this.#inode = statSync(path).ino;
    this.#putValue = database.prepare(putValue);
    this.#putMemory = database.prepare(putMemory);
    this.#dropMemory = database.prepare(dropMemory);
  }

  /** Opens a database that was checked. Errors: those of SQLite; nothing is open then. */
  static open(path: string, maxBytes: number): ValuesDatabase {
    const database = new DatabaseSync(path);
    try {
      database.exec(`PRAGMA busy_timeout = ${busyMs}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL`);
      database.exec(`PRAGMA journal_size_limit = ${keptLogBytes}`);
      const { page_size: pageBytes } = database.prepare('PRAGMA page_size').get() as { page_size: number };
      database.exec(`PRAGMA max_page_count = ${Math.floor(maxBytes / pageBytes)}`);
      identify(database); // tells at once whether we may write
      return new ValuesDatabase(path, database);
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** Creates an empty database: it is in its place once it is whole. Errors: those of SQLite and of the file system. */
  static create(path: string): void {
    const part = `${path}.part`;
    rmSync(part, { force: true });
    const database = new DatabaseSync(part);
    try {
      database.exec(tables);
      identify(database);
    } finally {
      database.close();
    }
    sync(part);
    renameSync(part, path);
  }

  /** Checks a database, and reads what it holds where that is wanted; it stays as it is. Errors: those of SQLite, `DamagedError`. */
  static check(path: string, isRead: boolean): Held | undefined {
    const found = statSync(path);
    if (!found.isFile()) throw new DamagedError('it is no file');
    if (found.size === 0) throw new DamagedError('it is empty');
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      check(database);
      return isRead ? readAll(database) : undefined;
    } finally {
      database.close();
    }
  }

  /** Writes a batch as a whole or not at all; once it returns, it is on the disk. Errors: those of SQLite, `DamagedError`. */
  write({ values, memories }: Batch): void {
    if (statSync(this.#path, { throwIfNoEntry: false })?.ino !== this.#inode)
      throw new DamagedError('the file is no longer in its place');
    this.#inTransaction(() => {
      for (const [address, type, value, time] of values)
        this.#putValue.run(address, type, stored(type, value), BigInt(Math.trunc(time)));
      for (const [connection, name, memory] of memories)
        if (memory === undefined) this.#dropMemory.run(connection, name);
        else this.#putMemory.run(connection, name, memory);
    });
  }

  /** Forgets every value whose address is not one of these. Errors: as `write`. */
  keepOnly(addresses: readonly string[]): void {
    const kept = new Set(addresses);
    const drop = this.#database.prepare('DELETE FROM parameter WHERE address = ?');
    const known = this.#database.prepare('SELECT address FROM parameter').all() as { address: string }[];
    this.#inTransaction(() => {
      for (const { address } of known) if (!kept.has(address)) drop.run(address);
    });
  }

  close(): void {
    this.#database.close();
  }

  #inTransaction(work: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#database.exec('COMMIT');
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }
}

function identify(database: DatabaseSync): void {
  database.exec(`BEGIN; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}; COMMIT`);
}

/** Errors: those of SQLite, `DamagedError`. */
function check(database: DatabaseSync): void {
  const results = database.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[];
  const [{ quick_check: result } = { quick_check: 'ok' }] = results;
  if (result !== 'ok') throw new DamagedError(result.split('\n')[0]!);
  const { application_id: id } = database.prepare('PRAGMA application_id').get() as { application_id: number };
  if (id !== applicationId) throw new DamagedError('it holds no values of ours');
}

function readAll(database: DatabaseSync): Held {
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
