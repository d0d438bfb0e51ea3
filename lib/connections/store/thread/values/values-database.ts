// The database of values, `values.db`. Any SQLite tool can read the tables, and each batch is written in one transaction.
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { isTime } from '../../../../model/time/iso-time.ts';
import { isValueOf, type Value, type ValueType, valueTypes } from '../../../../model/value.ts';
import type { KeptMemory } from '../../../persistence.ts';
import { backupWork, filesOf } from '../database/files.ts';
import { type Begun, beginStored } from '../database/open-stored.ts';
import { LeftOutRows, readList, readRows, readStored, storedText } from '../database/read-rows.ts';
import {
  checkDatabase,
  createDatabase,
  emptyLog,
  freeBytesIn,
  inTransaction,
  openDatabase,
  readDatabase,
  troubleOf,
  versionOf,
} from '../database/store-database.ts';
import { WrittenFiles } from '../database/written-files.ts';
import { giveWay } from '../give-way.ts';
import type { Batch, Held, KeptSnapshots, ReadRequest, SnapshotBatch, ValueRow } from './values-messages.ts';

// The tables for snapshots in the database of values, and a view that shows the saved values to people.

const snapshotTables = `
  CREATE TABLE IF NOT EXISTS snapshot (
    selection TEXT NOT NULL, name TEXT NOT NULL, time INTEGER NOT NULL, parameters INTEGER NOT NULL, contents TEXT NOT NULL,
    checksum INTEGER NOT NULL, PRIMARY KEY (selection, name)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS last_snapshot (
    selection TEXT PRIMARY KEY, name TEXT NOT NULL, checksum INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE VIEW IF NOT EXISTS snapshot_value AS
    SELECT selection, name, value ->> 0 AS address, value ->> 1 AS type, value ->> 2 AS value
    FROM snapshot, json_each(contents);`;

const dropSnapshotTables = `
  DROP VIEW IF EXISTS snapshot_value; DROP TABLE IF EXISTS snapshot; DROP TABLE IF EXISTS last_snapshot`;

const put = `INSERT INTO snapshot VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
  time = excluded.time, parameters = excluded.parameters, contents = excluded.contents, checksum = excluded.checksum`;
const putLast = `INSERT INTO last_snapshot VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET
  name = excluded.name, checksum = excluded.checksum`;

type StoredSnapshot = readonly [
  selection: string,
  name: string,
  time: number,
  parameters: number,
  contents: string,
  checksum: number,
];

/** Reads all undamaged snapshots, oldest first, and adds the names of damaged snapshots to `damaged`. Errors: any SQLite error. */
function readSnapshots(database: DatabaseSync, damaged: string[]): KeptSnapshots {
  if (!hasChecksums(database)) return { saved: [], last: [] }; // the first version of the database had no snapshots
  const rows = readRows<StoredSnapshot>(
    database.prepare('SELECT selection, name, time, parameters, contents, checksum FROM snapshot ORDER BY time'),
  );
  const whole = rows.filter(([selection, name, time, parameters, contents, checksum]) => {
    const isWhole = isTime(time) && checksum === checksumOf([selection, name, time, parameters, contents]);
    if (!isWhole) damaged.push(`${selection}/${name} (snapshot)`);
    return isWhole;
  });
  return {
    saved: whole.map(([selection, name, time, parameters, contents]) => {
      return { selection, name, time, parameters, contents, bytes: Buffer.byteLength(contents) };
    }),
    last: readLast(database, damaged),
  };
}

/** Returns the name of the snapshot that was last saved or recalled, for each selection. */
function readLast(database: DatabaseSync, damaged: string[]): KeptSnapshots['last'] {
  const isChecked = isOfThisVersion(database);
  const rows = readRows(
    database.prepare(`SELECT selection, name, ${isChecked ? 'checksum' : 0} FROM last_snapshot`),
  ) as [selection: string, name: string, checksum: number][];
  return rows.flatMap(([selection, name, checksum]) => {
    if (!isChecked || checksum === checksumOf([selection, name])) return [[selection, name]];
    damaged.push(`${selection} (last snapshot)`);
    return [];
  });
}

/** Writes changed snapshots within a transaction. Errors: any SQLite error. */
function writeSnapshots(database: DatabaseSync, { isAnew, saved, forgotten, last }: SnapshotBatch): void {
  if (isAnew) database.exec('DELETE FROM snapshot; DELETE FROM last_snapshot');
  for (const { selection, name, time, parameters, contents } of saved)
    database
      .prepare(put)
      .run(
        selection,
        name,
        BigInt(time),
        BigInt(parameters),
        contents,
        checksumOf([selection, name, time, parameters, contents]),
      );
  for (const row of forgotten) database.prepare('DELETE FROM snapshot WHERE selection = ? AND name = ?').run(...row);
  for (const [selection, name] of last)
    if (name === undefined) database.prepare('DELETE FROM last_snapshot WHERE selection = ?').run(selection);
    else database.prepare(putLast).run(selection, name, checksumOf([selection, name]));
}

// Values that change continuously. A single row contains, as JSON, all values that have changed since their rows in `parameter` were last
// written. Any other write to a row of `parameter`, by a person or an earlier version of the hub, makes the JSON outdated.

const recentTables = `
  CREATE TABLE IF NOT EXISTS recent (
    one INTEGER PRIMARY KEY CHECK (one = 1), parameters TEXT NOT NULL, checksum INTEGER NOT NULL
  ) STRICT;${['INSERT', 'UPDATE', 'DELETE']
    .map(
      (write) => `
  CREATE TRIGGER IF NOT EXISTS recent_before_${write.toLowerCase()} AFTER ${write} ON parameter BEGIN DELETE FROM recent; END;`,
    )
    .join('')}
  CREATE VIEW IF NOT EXISTS newest AS
    WITH one AS (
      SELECT value ->> 0 AS address, value ->> 1 AS type, value ->> 2 AS value, value ->> 3 AS time, value -> 4 AS causes
      FROM recent, json_each(iif(json_valid(parameters), parameters, '[]'))
    )
    SELECT address, type, value, time, iif(causes = 'null', '', causes) AS causes FROM one
    UNION ALL SELECT address, type, value, time, causes FROM parameter WHERE address NOT IN (SELECT address FROM one);`;
const putRecent = 'INSERT OR REPLACE INTO recent VALUES (1, ?, ?)';
const dropRecent = 'DELETE FROM recent';

/** Reads the values that `recentRows` has encoded, and adds the names of damaged values to `damaged`. Errors: any SQLite error. */
function readRecent(database: DatabaseSync, damaged: string[]): ValueRow[] {
  if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'recent'").get() === undefined) return [];
  const [found] = readRows<[text: unknown, checksum: number]>(
    database.prepare('SELECT parameters, checksum FROM recent'),
  );
  if (found === undefined) return [];
  const [text, checksum] = found;
  const rows = typeof text === 'string' && crc32(text) === checksum ? readList(text) : [];
  if (rows.length === 0) damaged.push('the values of the last seconds');
  return rows.flatMap((row): ValueRow[] => {
    if (!Array.isArray(row)) return [];
    const [address, type, value, time, causes] = row as [string, ValueType, Value, number, unknown];
    const kept = [address, type, value, time, causes === null ? '' : JSON.stringify(causes)] as const;
    if (typeof address === 'string' && isRow(kept)) return [kept];
    damaged.push(`${address}`);
    return [];
  });
}

const tables = `
  CREATE TABLE parameter (
    address TEXT PRIMARY KEY, type TEXT NOT NULL, value ANY NOT NULL, time INTEGER NOT NULL,
    causes TEXT NOT NULL, checksum INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE under_way (
    connection TEXT NOT NULL, name TEXT NOT NULL, memory TEXT NOT NULL, checksum INTEGER NOT NULL,
    PRIMARY KEY (connection, name)
  ) STRICT, WITHOUT ROWID;${recentTables}${snapshotTables}`;

/** The space that the write-ahead log and partly filled pages take in addition to a batch, in bytes. */
const spareBytes = 1_000_000;

export class ValuesDatabase {
  readonly #folder: string;
  readonly #files: WrittenFiles;
  readonly #database: DatabaseSync;
  readonly #rows: RowWriter;
  readonly leftOut = new LeftOutRows();
  /** Whether the last batch did not fit into the database even though the disk had enough space. */
  isUsedUp = false;

  /**
   * Opens a checked database for writing. Tables from an earlier version are upgraded, and damaged rows are dropped. Errors: any SQLite
   * error. After an error, nothing remains open.
   */
  constructor(path: string, maxBytes: number, hasDamagedRows = false) {
    this.#folder = dirname(path);
    this.#database = openDatabase(path, maxBytes);
    try {
      this.#files = new WrittenFiles(path);
      if (hasDamagedRows || !isOfThisVersion(this.#database)) writeAnew(this.#database);
      this.#database.exec(recentTables); // the tables are missing from a database of an earlier version
      this.#rows = new RowWriter(this.#database, this.leftOut);
      const recent = readRecent(this.#database, []);
      if (recent.length > 0) this.write({ values: recent, memories: [], snapshots: undefined });
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Creates an empty database. Errors: any SQLite or file system error. */
  static create(path: string): void {
    createDatabase(path, tables, valuesVersion);
  }

  /**
   * Checks a database and reads its contents without changing it. Values and memories are read only if `isRead` is set. Errors: any SQLite
   * error, `DamagedError`.
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
   * Writes a batch in one transaction and omits rows that the database refuses. When `write` returns, the batch is on disk. Errors: any
   * SQLite error, `DamagedError`.
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

  /** Deletes every value whose address is not in the list. Errors: any SQLite error. */
  keepOnly(addresses: readonly string[]): void {
    const kept = new Set(addresses);
    const drop = this.#database.prepare('DELETE FROM parameter WHERE address = ?');
    const known = this.#database.prepare('SELECT address FROM parameter').all() as { address: string }[];
    inTransaction(this.#database, () => {
      this.#rows.retainRecent(() => {
        for (const { address } of known) if (!kept.has(address)) drop.run(address);
      });
    });
  }

  /** Empties the write-ahead log, which keeps its space on disk. Errors: any SQLite error. */
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

/** Reads the undamaged rows, and the names of all damaged rows. Values and memories are read only if `isAll` is set. */
function read(database: DatabaseSync, isAll: boolean): Held {
  const damaged: string[] = [];
  return {
    values: isAll ? readValues(database, damaged) : [],
    memories: isAll ? readMemories(database, damaged) : [],
    snapshots: readSnapshots(database, damaged),
    damaged,
  };
}

/** Rewrites all undamaged rows into tables of the current version. */
function writeAnew(database: DatabaseSync): void {
  const { values, memories, snapshots } = read(database, true);
  inTransaction(database, () => {
    const recent = 'DROP VIEW IF EXISTS newest; DROP TABLE IF EXISTS recent';
    database.exec(`${recent}; DROP TABLE parameter; DROP TABLE under_way; ${dropSnapshotTables}; ${tables}`);
    new RowWriter(database, new LeftOutRows()).write({
      values,
      memories: memories.map(({ connection, name, memory }) => [connection, name, JSON.stringify(memory)]),
      snapshots: { ...snapshots, isAnew: true, forgotten: [] },
    });
    database.exec(`PRAGMA user_version = ${valuesVersion}`);
  });
}

// Opens the database of values.

/** The maximum number of damaged rows that a message names, and the maximum length of each name in characters. */
const shownNames = 5;
const shownCharacters = 100;

/**
 * Reads the database of values, which can then be opened. While the hub is running, damage causes no loss, because the hub has all values.
 */
export function beginValues({ folder, maxBytes, isRead }: Omit<ReadRequest, 'ask'>): Begun<Held, ValuesDatabase> {
  const files = filesOf(folder, 'values');
  return beginStored<Held, ValuesDatabase>(files, {
    lock: 'hub',
    others: 'stores its values in this folder',
    isRead,
    create: ValuesDatabase.create,
    read: (path) => ValuesDatabase.check(path, isRead),
    lostSince: isRead ? 'later changes are lost' : undefined,
    lost: isRead ? 'all values are lost' : 'the hub writes all values again',
    lossesOf: (held) => lossesOf(files.path, held),
    open(held) {
      rmSync(join(folder, backupWork), { recursive: true, force: true }); // remains from a hub that was killed during a backup
      return new ValuesDatabase(files.path, maxBytes, held !== undefined && held.damaged.length > 0);
    },
  });
}

/** Describes the damaged rows: `values.db has 2 damaged rows, whose contents are lost: desk/lamp, desk/level`. */
function lossesOf(path: string, { damaged }: Held): string[] {
  if (damaged.length === 0) return [];
  const names = damaged.slice(0, shownNames).map((name) => name.slice(0, shownCharacters));
  const more = damaged.length > shownNames ? ` and ${damaged.length - shownNames} more` : '';
  const rows = damaged.length === 1 ? 'a damaged row' : `${damaged.length} damaged rows`;
  return [`${path} has ${rows}, whose contents are lost: ${names.join(', ')}${more}`];
}

// Reads the rows of `values.db` and omits rows with a wrong checksum. The values are checked as well, because a user who edits the database
// may write a correct checksum, and the first version had no checksums.

/**
 * Reads the undamaged values, oldest first, and adds the names of damaged values to `damaged`. To save time while the hub is waiting,
 * SQLite's row arrays are reused, and sorted here. Errors: any SQLite error.
 */
function readValues(database: DatabaseSync, damaged: string[]): ValueRow[] {
  const isChecked = hasChecksums(database);
  const added = isChecked ? 'causes, checksum' : "'', 0";
  const values: ValueRow[] = [];
  for (const row of readRows(database.prepare(`SELECT address, type, value, time, ${added} FROM parameter`))) {
    const checksum = row.pop();
    row[2] = readStored(row[2]);
    const isAsWritten = !isChecked || checksum === checksumOf(row);
    if (row[1] === 'B') row[2] = booleans.get(row[2]);
    if (isAsWritten && isRow(row)) values.push(row);
    else damaged.push(`${row[0]}`);
  }
  const recent = readRecent(database, damaged);
  if (recent.length === 0) return values.sort(byTime);
  const isRecent = new Set(recent.map(([address]) => address));
  return [...values.filter(([address]) => !isRecent.has(address)), ...recent].sort(byTime);
}

function byTime(one: ValueRow, other: ValueRow): number {
  return one[3] - other[3];
}

/** The booleans, keyed by the numbers that represent them in the database. */
const booleans = new Map<unknown, boolean>([
  [0, false],
  [1, true],
]);

function isRow(row: readonly unknown[]): row is ValueRow {
  const [, type, value, time] = row;
  return valueTypes.includes(type as ValueType) && isValueOf(type as ValueType, value) && isTime(time);
}

/** Reads the undamaged memories, and adds the names of damaged memories to `damaged`. Errors: any SQLite error. */
function readMemories(database: DatabaseSync, damaged: string[]): KeptMemory[] {
  const isChecked = hasChecksums(database);
  const rows = readRows(
    database.prepare(`SELECT connection, name, memory, ${isChecked ? 'checksum' : 0} FROM under_way`),
  );
  return (rows as [string, string, string, number][]).flatMap(([connection, name, text, checksum]) => {
    if (!isChecked || checksum === checksumOf([connection, name, text])) return readMemory(connection, name, text);
    damaged.push(`${connection}/${name} (under way)`);
    return [];
  });
}

/** Parses a memory; returns an empty list if the JSON is invalid, which the first version of the database allowed. */
function readMemory(connection: string, name: string, text: string): KeptMemory[] {
  try {
    return [{ connection, name, memory: JSON.parse(text) }];
  } catch {
    return [];
  }
}

// Writes the rows of `values.db`. Each row has a checksum of its other columns.

const putValue = `INSERT INTO parameter VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
  type = excluded.type, value = excluded.value, time = excluded.time, causes = excluded.causes, checksum = excluded.checksum`;
const putMemory = `INSERT INTO under_way VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET
  memory = excluded.memory, checksum = excluded.checksum`;
const dropValue = 'DELETE FROM parameter WHERE address = ?';
const dropMemory = 'DELETE FROM under_way WHERE connection = ? AND name = ?';

class RowWriter {
  readonly #database: DatabaseSync;
  readonly #putValue: StatementSync;
  readonly #dropValue: StatementSync;
  readonly #leftOut: LeftOutRows;
  readonly #putMemory: StatementSync;
  readonly #dropMemory: StatementSync;
  readonly #putRecent: StatementSync;
  readonly #dropRecent: StatementSync;

  /** `leftOut` collects the refused rows. Errors: any SQLite error. */
  constructor(database: DatabaseSync, leftOut: LeftOutRows) {
    this.#database = database;
    this.#leftOut = leftOut;
    this.#dropValue = database.prepare(dropValue);
    this.#putValue = database.prepare(putValue);
    this.#putMemory = database.prepare(putMemory);
    this.#dropMemory = database.prepare(dropMemory);
    this.#putRecent = database.prepare(putRecent);
    this.#dropRecent = database.prepare(dropRecent);
  }

  /** Writes a batch within a transaction. Rows that the database refuses are omitted. Errors: any SQLite error. */
  write({ values, memories, snapshots, forgotten = [], recent }: Batch): void {
    if (recent !== undefined) this.#putRecent.run(recent, crc32(recent));
    else if (values.length + forgotten.length > 0) this.#dropRecent.run();
    for (const address of forgotten) this.#dropValue.run(address);
    for (const row of values) {
      giveWay();
      try {
        this.#put(row);
      } catch (error) {
        this.#leftOut.note(row[0], error);
        this.#dropValue.run(row[0]); // the previous value is out of date
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

  /** Keeps the row with recent values while `work` deletes rows of other values, which would otherwise delete it. */
  retainRecent(work: () => void): void {
    const recent = this.#database.prepare('SELECT parameters, checksum FROM recent').get();
    work();
    if (recent !== undefined) this.#putRecent.run(...(Object.values(recent) as [string, number]));
  }

  #put([address, type, value, time, causes]: ValueRow): void {
    const number = typeof value === 'boolean' ? Number(value) : value;
    const checksum = checksumOf([address, type, number, time, causes]);
    this.#putValue.run(address, type, stored(type, number), BigInt(time), causes, checksum);
  }
}

/**
 * Returns a value in the form in which SQLite stores it. Integers and booleans become bigints, because SQLite would store a JavaScript
 * number as a float.
 */
function stored(type: ValueType, value: string | number): string | bigint | number | Uint8Array {
  if (typeof value === 'string') return storedText(value);
  return type === 'F' ? value : BigInt(value);
}

// Checksums detect damage within a row. SQLite's own integrity check finds broken pages, but not a flipped bit in a value.

/** The version of the tables in `values.db`. */
const valuesVersion = 3;
/** The first version in which each row has a checksum and each value its causes. */
const checksumVersion = 2;

function hasChecksums(database: DatabaseSync): boolean {
  return versionOf(database) >= checksumVersion;
}

/**
 * Returns whether a database has the tables of the current version. In earlier versions, the last snapshot of a selection had no checksum.
 */
function isOfThisVersion(database: DatabaseSync): boolean {
  return versionOf(database) >= valuesVersion;
}

/** Returns the CRC-32 of the columns in a row, joined as strings. */
export function checksumOf(columns: readonly unknown[]): number {
  return crc32(columns.join('\0'));
}
