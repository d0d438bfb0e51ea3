// Creates, opens, identifies and writes the store's databases.
import { chmodSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fixedText } from '../../../../model/digits.ts';
import { sync } from './files.ts';

/** The SQLite application ID "Ptch", which distinguishes a hub's files from all other SQLite files. */
const applicationId = 0x50746368;
/** How long a statement waits while another thread or program holds an exclusive lock, in milliseconds. */
const busyMs = 2000;
/** The default size of the write-ahead log, in bytes. */
const keptLogBytes = 4 * 1024 * 1024;
/** The maximum size of a database that is checked at startup, in bytes. Such a check takes up to a third of a second. */
const smallBytes = 16 * 1024 * 1024;

/** Creates a database with empty tables, and moves it into place once it is complete. Errors: any SQLite or file system error. */
export function createDatabase(path: string, tables: string, version = 1): void {
  const part = `${path}.part`;
  rmSync(part, { force: true });
  const database = new DatabaseSync(part);
  try {
    database.exec('PRAGMA synchronous = OFF'); // `sync` below forces the whole file to disk
    inTransaction(database, () => database.exec(tables));
    identify(database);
    database.exec(`PRAGMA user_version = ${version}`);
  } finally {
    database.close();
  }
  sync(part);
  renameSync(part, path);
}

/**
 * Opens an existing database for writing. The write-ahead log keeps a size of `logBytes`, or less on a small disk, and is emptied when it
 * has reached `share` of this size. Errors: any SQLite error, including a missing write permission. After an error, nothing remains open.
 */
export function openDatabase(path: string, maxBytes: number, logBytes = keptLogBytes, share = 0.5): DatabaseSync {
  for (const companion of ['-wal', '-shm']) takeRights(path, companion);
  const database = new DatabaseSync(path, { timeout: busyMs });
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
    const { page_size: pageBytes } = database.prepare('PRAGMA page_size').get() as { page_size: number };
    const bytes = logBytesOn(dirname(path), logBytes);
    const pages = Math.floor((bytes * share) / pageBytes);
    database.exec(`PRAGMA journal_size_limit = ${bytes}; PRAGMA wal_autocheckpoint = ${pages}`);
    database.exec(`PRAGMA max_page_count = ${Math.floor(maxBytes / pageBytes)}`);
    expectWritable(database);
    written.add(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Moves the contents of the write-ahead log into the database. The space of the log is kept for reuse, or freed if `isGivenBack` is set.
 * Returns false while a reader still needs older contents. Errors: any SQLite error; on a full disk, as much as possible is moved.
 */
export function emptyLog(database: DatabaseSync, isGivenBack: boolean): boolean {
  const { busy } = database.prepare(`PRAGMA wal_checkpoint(${isGivenBack ? 'TRUNCATE' : 'RESTART'})`).get() as {
    busy: number;
  };
  return busy === 0;
}

/** The databases that this thread has opened for writing. */
const written = new Set<DatabaseSync>();

/** Frees the pages that the open databases of this thread keep in memory. */
export function shrinkDatabases(): void {
  for (const database of written)
    if (database.isOpen) database.exec('PRAGMA shrink_memory');
    else written.delete(database);
}

/** Opens a database read-only. Errors: any SQLite error, `DamagedError`. After an error, nothing remains open. */
export function readDatabase(path: string): DatabaseSync {
  const found = statSync(path);
  if (!found.isFile()) throw new DamagedError('it is not a file');
  if (found.size === 0) throw new DamagedError('it is empty');
  const database = new DatabaseSync(path, { readOnly: true, timeout: busyMs });
  try {
    const { application_id: id } = database.prepare('PRAGMA application_id').get() as { application_id: number };
    if (id !== applicationId) throw new DamagedError('it is not a store database');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Copies the state of a database at a single moment to the path `place`. Like any reader, the copy does not block writers. Errors: any
 * SQLite error.
 */
export function copyDatabase(path: string, place: string): void {
  const database = new DatabaseSync(path, { readOnly: true, timeout: busyMs });
  try {
    database.prepare('VACUUM INTO ?').run(place);
  } finally {
    database.close();
  }
}

/** Returns the version of the tables in a database. */
export function versionOf(database: DatabaseSync): number {
  return (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
}

/**
 * Checks a whole database for damage. Unlike `quick_check`, this check finds rows out of order, which would hide the rows that follow them.
 * Errors: any SQLite error, `DamagedError`.
 */
export function checkDatabase(database: DatabaseSync): void {
  const results = database.prepare('PRAGMA integrity_check(1)').all() as { integrity_check: string }[];
  const [{ integrity_check: result } = { integrity_check: 'ok' }] = results;
  if (result !== 'ok') throw new DamagedError(result.split('\n')[0]!);
}

/** Checks a database for damage if it is small enough to be checked at startup. Errors: any SQLite error, `DamagedError`. */
export function checkSmallDatabase(database: DatabaseSync, path: string): void {
  if (isSmall(path)) checkDatabase(database);
}

export function isSmall(path: string): boolean {
  return statSync(path).size <= smallBytes;
}

/**
 * Runs `work` in a transaction. When `inTransaction` returns, the changes are on disk. Errors: any SQLite error, and any error from `work`.
 */
export function inTransaction(database: DatabaseSync, work: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    work();
    database.exec('COMMIT');
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

/** The file of an open database. Detects whether the file was moved or deleted. */
export class OpenFile {
  readonly #path: string;
  readonly #inode: number;

  constructor(path: string) {
    this.#path = path;
    this.#inode = statSync(path).ino;
  }

  /** Whether the path still leads to the open file. */
  get isInPlace(): boolean {
    return statSync(this.#path, { throwIfNoEntry: false })?.ino === this.#inode;
  }
}

/**
 * Copies the file mode of a database to its write-ahead log or index. SQLite sets the mode of the log only when it creates the log, so a
 * log created while the database was read-only would remain read-only.
 */
function takeRights(path: string, companion: string): void {
  const [own, found] = [path, path + companion].map((file) => statSync(file, { throwIfNoEntry: false })?.mode);
  if (own !== undefined && found !== undefined && found !== own) chmodSync(path + companion, own);
}

/** Checks that a database can be written. After a kill on a full disk, the log must be emptied first. Errors: any SQLite error. */
function expectWritable(database: DatabaseSync): void {
  try {
    identify(database);
  } catch (error) {
    if (troubleOf(error) !== 'full') throw error;
    emptyLog(database, false);
    identify(database);
  }
}

function identify(database: DatabaseSync): void {
  database.exec(`PRAGMA application_id = ${applicationId}`);
}

// Each part of a store leaves disk space for more important parts. In ascending order of importance: backup, history, audit, values.

/** The free space that each part leaves: `bytes` or, on a small disk, the `share` of the disk. */
const reserves = {
  audit: { bytes: 8_000_000, share: 0.1 },
  history: { bytes: 64_000_000, share: 0.2 },
  backup: { bytes: 96_000_000, share: 0.3 },
} as const;

/** The maximum share of a small disk that the write-ahead log of a database may take. */
const logShare = 1 / 32;

/** The error for a disk that still has free space, but not for this part of the store. Its code is the same as for a full disk. */
export class NoRoomError extends Error {
  readonly code = 'ENOSPC';
}

/** Checks that a part of a store can write `plannedBytes` and still leave enough free space. Errors: `NoRoomError`. */
export function expectRoom(folder: string, part: keyof typeof reserves, plannedBytes = 0): void {
  const { bsize, bavail, blocks } = statfsSync(folder);
  const { bytes, share } = reserves[part];
  const reserve = Math.min(bytes, blocks * bsize * share);
  const free = bavail * bsize;
  if (free - plannedBytes >= reserve) return;
  if (free >= reserve)
    throw new NoRoomError(`expected ${megabytes(plannedBytes + reserve)} of free disk space, got ${megabytes(free)}`);
  throw new NoRoomError(`the disk is nearly full: the last ${megabytes(reserve)} are reserved for more important data`);
}

/** Returns the number of free bytes on the disk that contains a folder; 0 if unknown. */
export function freeBytesIn(folder: string): number {
  try {
    const { bsize, bavail } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

/** Returns the size of a write-ahead log on the disk that contains a folder: `bytes`, or less on a small disk. */
function logBytesOn(folder: string, bytes: number): number {
  const { bsize, blocks } = statfsSync(folder);
  return Math.floor(Math.min(bytes, blocks * bsize * logShare));
}

function megabytes(bytes: number): string {
  return `${fixedText(bytes / 1e6, 2)} MB`;
}

// The meaning of SQLite error codes: https://sqlite.org/rescode.html

/**
 * What an error means for the store. `damaged`: the file is broken; `full`: there is no space; `busy`: another thread or program is using
 * the database; `unusable`: the folder or the disk denies access.
 */
type Trouble = 'damaged' | 'full' | 'busy' | 'unusable';

const troubles: Readonly<Record<number, Trouble>> = {
  1: 'damaged', // SQLITE_ERROR: a table is missing, or differs from how a hub creates it
  5: 'busy',
  6: 'busy',
  11: 'damaged', // SQLITE_CORRUPT
  13: 'full',
  26: 'damaged', // SQLITE_NOTADB
};

/** The error codes SQLITE_IOERR_SHORT_READ and SQLITE_IOERR_CORRUPTFS: the file ends too early. */
const damagedReads = [522, 8458];

/** The error for a database whose contents are damaged, or were not written by a hub. */
export class DamagedError extends Error {}

export function troubleOf(error: unknown): Trouble {
  if (error instanceof DamagedError) return 'damaged';
  const { errcode, code } = error as { errcode?: number; code?: string };
  if (errcode === undefined) return code === 'ENOSPC' ? 'full' : 'unusable';
  return damagedReads.includes(errcode) ? 'damaged' : (troubles[errcode & 0xff] ?? 'unusable');
}
