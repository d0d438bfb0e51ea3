// What the databases of a store have in common: how one is created, opened, recognised and written.
import { chmodSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fixedText } from '../../../../model/digits.ts';
import { sync } from './files.ts';

/** Names files of ours among all of SQLite: "Ptch". */
const applicationId = 0x50746368;
/** How long a statement waits for who has the database for itself: who opens it to write, or another program that looks at it. */
const busyMs = 2000;
/** How large the log before the database stays, in bytes, unless said. */
const keptLogBytes = 4 * 1024 * 1024;
/** How large a database is at most that is looked through at a start, which takes a third of a second. */
const smallBytes = 16 * 1024 * 1024;

/** Creates a database with nothing in its tables: it is in its place once it is whole. Errors: those of SQLite and of the file system. */
export function createDatabase(path: string, tables: string, version = 1): void {
  const part = `${path}.part`;
  rmSync(part, { force: true });
  const database = new DatabaseSync(part);
  try {
    database.exec('PRAGMA synchronous = OFF'); // the whole file is forced to the disk below
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
 * Opens a database that is there, to write it. The log before it stays as large as `logBytes`, on a small disk less, and is emptied
 * when it has `share` of that. Errors: those of SQLite, also when we may not write; nothing is open then.
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
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Takes what is written out of the log before the database: its room is used again, and given back where it `isGivenBack`. It can only
 * be so while nobody reads what is older. Errors: those of SQLite; of a disk that is full it takes what there is room for.
 */
export function emptyLog(database: DatabaseSync, isGivenBack: boolean): boolean {
  const { busy } = database.prepare(`PRAGMA wal_checkpoint(${isGivenBack ? 'TRUNCATE' : 'RESTART'})`).get() as {
    busy: number;
  };
  return busy === 0;
}

/** Opens a database to read it: it stays as it is. Errors: those of SQLite, `DamagedError`; nothing is open then. */
export function readDatabase(path: string): DatabaseSync {
  const found = statSync(path);
  if (!found.isFile()) throw new DamagedError('it is no file');
  if (found.size === 0) throw new DamagedError('it is empty');
  const database = new DatabaseSync(path, { readOnly: true, timeout: busyMs });
  try {
    const { application_id: id } = database.prepare('PRAGMA application_id').get() as { application_id: number };
    if (id !== applicationId) throw new DamagedError('it is no database of a store');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Copies one moment of a database. It reads as any other reader does: nobody who writes waits for it. Errors: those of SQLite. */
export function copyDatabase(path: string, place: string): void {
  const database = new DatabaseSync(path, { readOnly: true, timeout: busyMs });
  try {
    database.prepare('VACUUM INTO ?').run(place);
  } finally {
    database.close();
  }
}

/** Which version of its tables a database has. */
export function versionOf(database: DatabaseSync): number {
  return (database.prepare('PRAGMA user_version').get() as { user_version: number }).user_version;
}

/**
 * Reads the whole of a database for damage, also for rows that are not in their order, which a `quick_check` passes over: what is
 * behind them is not found. Errors: those of SQLite, `DamagedError`.
 */
export function checkDatabase(database: DatabaseSync): void {
  const results = database.prepare('PRAGMA integrity_check(1)').all() as { integrity_check: string }[];
  const [{ integrity_check: result } = { integrity_check: 'ok' }] = results;
  if (result !== 'ok') throw new DamagedError(result.split('\n')[0]!);
}

/** Looks through a database if that takes no longer than a start may. Errors: `DamagedError`. */
export function checkSmallDatabase(database: DatabaseSync, path: string): void {
  if (statSync(path).size <= smallBytes) checkDatabase(database);
}

/** Writes as a whole or not at all; once it returns, it is on the disk. Errors: those of SQLite and of `work`. */
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

/** A database that is open, as long as its file is in its place. */
export class OpenFile {
  readonly #path: string;
  readonly #inode: number;

  constructor(path: string) {
    this.#path = path;
    this.#inode = statSync(path).ino;
  }

  /** Whether nobody has moved or deleted the file. */
  get isInPlace(): boolean {
    return statSync(this.#path, { throwIfNoEntry: false })?.ino === this.#inode;
  }
}

/** SQLite gives what belongs to a database the rights of that time: where that was read-only, it would stay so. */
function takeRights(path: string, companion: string): void {
  const [own, found] = [path, path + companion].map((file) => statSync(file, { throwIfNoEntry: false })?.mode);
  if (own !== undefined && found !== undefined && found !== own) chmodSync(path + companion, own);
}

/** Tells at once whether we may write: a hub that was killed on a disk that is full leaves a log that is to be emptied first. */
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

// Room that parts of a store leave to those that matter more: a backup gives way before the history, the history before the audit, and the
// audit before values.

/** How much is left, in bytes; on a small disk less: a share of it. */
const reserves = {
  audit: { bytes: 8_000_000, share: 0.1 },
  history: { bytes: 64_000_000, share: 0.2 },
  backup: { bytes: 96_000_000, share: 0.3 },
} as const;

/** Which part of a small disk the log before a database takes at most. */
const logShare = 1 / 32;

/** A disk has room, but not for this part of the store. Its code is that of a disk that is full. */
export class NoRoomError extends Error {
  readonly code = 'ENOSPC';
}

/** Errors: `NoRoomError` when less is free than the part leaves once it has written so many bytes. */
export function expectRoom(folder: string, part: keyof typeof reserves, plannedBytes = 0): void {
  const { bsize, bavail, blocks } = statfsSync(folder);
  const { bytes, share } = reserves[part];
  const reserve = Math.min(bytes, blocks * bsize * share);
  const free = bavail * bsize;
  if (free - plannedBytes >= reserve) return;
  if (free >= reserve)
    throw new NoRoomError(`expected ${megabytes(plannedBytes + reserve)} free on the disk, got ${megabytes(free)}`);
  throw new NoRoomError(`the disk is nearly full: the last ${megabytes(reserve)} are left to what matters more`);
}

/** How much is free on the disk of a folder; 0: it does not tell. */
export function freeBytesIn(folder: string): number {
  try {
    const { bsize, bavail } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    return 0;
  }
}

/** How large the log before a database may stay on the disk of a folder, of so many bytes where there is room. */
function logBytesOn(folder: string, bytes: number): number {
  const { bsize, blocks } = statfsSync(folder);
  return Math.floor(Math.min(bytes, blocks * bsize * logShare));
}

function megabytes(bytes: number): string {
  return `${fixedText(bytes / 1e6, 2)} MB`;
}

// What it means that SQLite has refused something: https://sqlite.org/rescode.html

/** damaged: the file is broken; full: no room; busy: somebody else has it; unusable: the folder or the disk does not let us. */
type Trouble = 'damaged' | 'full' | 'busy' | 'unusable';

const troubles: Readonly<Record<number, Trouble>> = {
  1: 'damaged', // SQLITE_ERROR: a table is missing, or is another than ours
  5: 'busy',
  6: 'busy',
  11: 'damaged', // SQLITE_CORRUPT
  13: 'full',
  26: 'damaged', // SQLITE_NOTADB
};

/** SQLITE_IOERR_SHORT_READ and SQLITE_IOERR_CORRUPTFS: the file ends where it must not. */
const damagedReads = [522, 8458];

/** A database whose content is not what we have written. */
export class DamagedError extends Error {}

export function troubleOf(error: unknown): Trouble {
  if (error instanceof DamagedError) return 'damaged';
  const { errcode, code } = error as { errcode?: number; code?: string };
  if (errcode === undefined) return code === 'ENOSPC' ? 'full' : 'unusable';
  return damagedReads.includes(errcode) ? 'damaged' : (troubles[errcode & 0xff] ?? 'unusable');
}
