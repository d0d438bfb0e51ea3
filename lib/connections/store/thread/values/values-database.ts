// The database of values, `values.db`: tables that people read with any tool, and one transaction per batch.

import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { freeBytesIn } from '../database/free-room.ts';
import { LeftOutRows } from '../database/left-out-rows.ts';
import {
  checkDatabase,
  createDatabase,
  emptyLog,
  inTransaction,
  openDatabase,
  readDatabase,
} from '../database/store-database.ts';
import { troubleOf } from '../database/trouble.ts';
import { WrittenFiles } from '../database/written-files.ts';
import { isOfThisVersion, valuesVersion } from './checksum.ts';
import type { Batch, Held } from './messages.ts';
import { readMemories, readValues } from './read-values.ts';
import { dropSnapshotTables, readSnapshots, snapshotTables } from './snapshot-tables.ts';
import { RowWriter } from './write-values.ts';

const tables = `
  CREATE TABLE parameter (
    address TEXT PRIMARY KEY, type TEXT NOT NULL, value ANY NOT NULL, time INTEGER NOT NULL,
    causes TEXT NOT NULL, checksum INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE under_way (
    connection TEXT NOT NULL, name TEXT NOT NULL, memory TEXT NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (connection, name)
  ) STRICT, WITHOUT ROWID;${snapshotTables}`;

/** What the log and the pages that are written in part take beside a batch. */
const spareBytes = 1_000_000;

export class ValuesDatabase {
  readonly #folder: string;
  readonly #files: WrittenFiles;
  readonly #database: DatabaseSync;
  readonly #rows: RowWriter;
  readonly leftOut = new LeftOutRows();
  /** Whether there was no room in the database for the last batch, although the disk had enough. */
  isUsedUp = false;

  /**
   * Opens a database that was checked. One of an earlier version becomes one of this, and damaged rows are dropped. Errors: those
   * of SQLite; nothing is open then.
   */
  constructor(path: string, maxBytes: number, hasDamagedRows = false) {
    this.#folder = dirname(path);
    this.#database = openDatabase(path, maxBytes);
    try {
      this.#files = new WrittenFiles(path);
      if (hasDamagedRows || !isOfThisVersion(this.#database)) writeAnew(this.#database);
      this.#rows = new RowWriter(this.#database, this.leftOut);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Creates an empty database. Errors: those of SQLite and of the file system. */
  static create(path: string): void {
    createDatabase(path, tables, valuesVersion);
  }

  /**
   * Checks a database and reads it, values and what is under way where these are wanted; it stays as it is. Errors: those of SQLite,
   * `DamagedError`.
   */
  static check(path: string, isRead: boolean): Held {
    const database = readDatabase(path);
    try {
      checkDatabase(database);
      return read(database, isRead);
    } finally {
      database.close();
    }
  }

  /**
   * Writes a batch as a whole or not at all, but for rows that cannot be; once it returns, it is on the disk. Errors: those of SQLite,
   * `DamagedError`.
   */
  write(batch: Batch): void {
    this.#files.expectWhole();
    this.leftOut.forget();
    this.isUsedUp = false;
    try {
      inTransaction(this.#database, () => this.#rows.write(batch));
    } catch (error) {
      this.isUsedUp = troubleOf(error) === 'full' && freeBytesIn(this.#folder) > bytesOf(batch) + spareBytes;
      throw error;
    }
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

  /** Its log keeps the room that it has: nobody else can take it. Errors: those of SQLite. */
  emptyLog(): void {
    emptyLog(this.#database, false);
  }

  close(): void {
    this.#database.close();
  }
}

function bytesOf({ values }: Batch): number {
  return values.reduce((sum, [, , value]) => sum + (typeof value === 'string' ? value.length : 0), 0);
}

/** Reads the rows that are whole, and names the others. */
function read(database: DatabaseSync, isAll: boolean): Held {
  const damaged: string[] = [];
  return {
    values: isAll ? readValues(database, damaged) : [],
    memories: isAll ? readMemories(database, damaged) : [],
    snapshots: readSnapshots(database, damaged),
    damaged,
  };
}

/** Writes all rows that are whole into tables of this version. */
function writeAnew(database: DatabaseSync): void {
  const { values, memories, snapshots } = read(database, true);
  inTransaction(database, () => {
    database.exec(`DROP TABLE parameter; DROP TABLE under_way; ${dropSnapshotTables}; ${tables}`);
    new RowWriter(database, new LeftOutRows()).write({
      values,
      memories: memories.map(({ connection, name, memory }) => [connection, name, JSON.stringify(memory)]),
      snapshots: { ...snapshots, isAnew: true, forgotten: [] },
    });
    database.exec(`PRAGMA user_version = ${valuesVersion}`);
  });
}
