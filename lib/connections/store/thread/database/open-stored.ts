// Opens one of the store's databases, whatever its condition. A damaged database is set aside and replaced by its hourly copy. A database
// that cannot be written can still be read. Never throws.

import { closeSync, copyFileSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFolder } from '../../../../files/make-folder.ts';
import { readFlags } from '../../../../files/regular-file.ts';
import { messageOf } from '../../../../model/error.ts';
import type { OpenedStored, ReadStored } from '../values/values-messages.ts';
import { clearLog, companions, type DatabaseFiles, exists, isFile, setAside, timeOf, useCopy } from './files.ts';
import { troubleOf } from './store-database.ts';

/** The options for opening one of the store's databases. */
interface Opening<Held, Database> extends Recovery<Held> {
  /** The name of the lock in the folder, such as `hub`. */
  readonly lock: string;
  /** What another hub that holds the lock is doing, for the error: `stores its values in this folder`. */
  readonly others: string;
  /** Whether the contents are needed even if the database cannot be opened for writing. */
  readonly isRead: boolean;
  /** Opens the database for writing; `held` are its contents. Errors: any SQLite error. */
  open(held: Held | undefined): Database;
}

/**
 * A database from the attempt to open it until it is closed. `opened` is the result of opening it; `database` is undefined if it could not
 * be opened for writing.
 */
export interface Stored<Held, Database> {
  readonly opened: OpenedStored<Held>;
  readonly database: Database | undefined;
  close(): void;
}

/** A database whose contents have been read, and which can be opened for writing. */
export interface Begun<Held, Database> {
  readonly read: ReadStored<Held>;
  /** Opens the database for writing, or releases its lock after an error. Call `open` only once. */
  open(): Stored<Held, Database>;
}

export function openStored<Held, Database extends { close(): void; readonly losses?: readonly string[] }>(
  files: DatabaseFiles,
  opening: Opening<Held, Database>,
): Stored<Held, Database> {
  return beginStored(files, opening).open();
}

/** Takes the lock of a database and reads its contents, so that callers do not have to wait until the database is open for writing. */
export function beginStored<Held, Database extends { close(): void; readonly losses?: readonly string[] }>(
  files: DatabaseFiles,
  opening: Opening<Held, Database>,
): Begun<Held, Database> {
  const losses: string[] = [];
  let lock: FolderLock | undefined;
  const fail = (error: unknown, known: Held | undefined): Stored<Held, Database> => {
    lock?.free();
    const isBusy = lock === undefined && troubleOf(error) === 'busy';
    const held = known ?? (opening.isRead && !isBusy ? readElsewhere(files, losses, opening) : undefined);
    const reason = `cannot write ${files.path}: ${isBusy ? `another hub ${opening.others}` : messageOf(error)}`;
    return { opened: { losses, held, reason, copyAgeMs: undefined }, database: undefined, close: () => {} };
  };
  try {
    makeFolder(files.folder);
    lock = new FolderLock(files.folder, opening.lock);
    const cleared = clearLog(files);
    const held = recover(files, losses, opening);
    losses.unshift(...cleared);
    return { read: { held, reason: undefined }, open: () => openRead(held) };
  } catch (error) {
    const failed = fail(error, undefined);
    return { read: failed.opened, open: () => failed };
  }

  function openRead(held: Held | undefined): Stored<Held, Database> {
    try {
      const database = opening.open(held);
      losses.push(...(database.losses ?? []));
      const close = () => {
        database.close();
        lock?.free();
      };
      return { opened: { losses, held, reason: undefined, copyAgeMs: ageOf(files.copy) }, database, close };
    } catch (error) {
      return fail(error, held);
    }
  }
}

/**
 * Reads the contents of a database from a temporary copy, because SQLite cannot open a database in a folder that is read-only or full.
 * Returns undefined if the contents cannot be read.
 */
function readElsewhere<Held>(files: DatabaseFiles, losses: string[], recovery: Recovery<Held>): Held | undefined {
  const candidates = [files.path, files.copy].filter(isFile);
  for (const path of candidates)
    try {
      const held = readIn(mkdtempSync(join(tmpdir(), 'patchbay-store-')), path, losses, recovery);
      if (path === files.copy && recovery.lostSince !== undefined) losses.push(copyText(files, recovery.lostSince));
      return held;
    } catch (error) {
      losses.push(`cannot read ${path}: ${messageOf(error)}`);
    }
  return undefined;
}

function readIn<Held>(folder: string, path: string, losses: string[], recovery: Recovery<Held>): Held {
  try {
    const place = join(folder, 'read.db');
    for (const companion of companions) if (isFile(path + companion)) copyFileSync(path + companion, place + companion);
    return readStored(place, losses, recovery, path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// Only one hub uses a folder at a time, and only one thread of this hub uses each database. The operating system releases the lock, no
// matter how the hub ends.

/** How long a hub waits for the lock of another hub, which may be shutting down, in milliseconds. */
const waitMs = 1000;

export class FolderLock {
  readonly #database: DatabaseSync;

  /** Takes the lock `<name>.lock` in a folder. Errors: any SQLite error; busy if another hub uses the folder. */
  constructor(folder: string, name = 'hub') {
    const path = join(folder, `${name}.lock`);
    try {
      this.#database = lock(path);
    } catch (error) {
      if (troubleOf(error) !== 'damaged') throw error;
      rmSync(path, { force: true });
      this.#database = lock(path);
    }
  }

  free(): void {
    this.#database.close();
  }
}

function lock(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  try {
    database.exec(`PRAGMA busy_timeout = ${waitMs}; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

// Recovers a database, whatever its condition: sets a damaged database aside, and replaces it with the hourly copy or a new database.

interface Recovery<Held> {
  create(path: string): void;
  /** Reads the contents of the database. Errors: any SQLite error, `DamagedError`. */
  read(path: string): Held;
  /** Returns one sentence per loss in the contents. */
  lossesOf?(held: Held): readonly string[];
  /** What is lost if the hourly copy is used, such as `later changes are lost`; undefined if the loss is the same as without a copy. */
  readonly lostSince: string | undefined;
  /** What is lost if there is no hourly copy, such as `all values are lost`. */
  readonly lost: string;
}

/**
 * Returns the contents of a database, which is recovered if necessary; undefined if the database is new. Adds one sentence per loss to
 * `losses`. Errors: any SQLite or file system error.
 */
function recover<Held>(files: DatabaseFiles, losses: string[], recovery: Recovery<Held>): Held | undefined {
  for (;;) {
    if (!exists(files.path)) {
      if (!isFile(files.copy)) {
        recovery.create(files.path);
        return undefined;
      }
      if (losses.length === 0) losses.push(`${files.path} is missing: ${ofCopy(files, recovery)}`);
      useCopy(files);
    }
    try {
      return readStored(files.path, losses, recovery);
    } catch (error) {
      if (troubleOf(error) !== 'damaged') throw error;
      const aside = setAside(files);
      const isCopy = losses.length > 0;
      if (isCopy) rmSync(files.copy, { force: true }); // the contents of the copy have just been set aside
      const next = isFile(files.copy) ? ofCopy(files, recovery) : recovery.lost;
      const what = isCopy ? 'its copy' : files.path;
      losses.push(`${what} is damaged (${messageOf(error)}) and was set aside as ${aside}: ${next}`);
    }
  }
}

/**
 * Reads the contents of a database, and adds their losses to `losses`. For a temporary copy, `name` is the original path. Errors: any
 * SQLite error, `DamagedError`.
 */
function readStored<Held>(path: string, losses: string[], recovery: Recovery<Held>, name = path): Held {
  const before = readLogIndex(path);
  const held = recovery.read(path);
  losses.push(...(recovery.lossesOf?.(held) ?? []));
  if (recovery.lostSince !== undefined && hasLost(before, readLogIndex(path))) losses.push(lostLog(name));
  return held;
}

/** Describes the loss that an incomplete write-ahead log causes. */
export function lostLog(name: string): string {
  return `${name}-wal is incomplete: the last writes are lost`;
}

/** Returns the age of an hourly copy in milliseconds: 0 if the clock has been set back since, undefined if there is no copy. */
function ageOf(copy: string): number | undefined {
  return isFile(copy) ? Math.max(0, Date.now() - timeOf(copy)!) : undefined;
}

/** Describes the loss that results from using the hourly copy. */
function copyText({ copy }: DatabaseFiles, lostSince: string): string {
  return `the copy from ${new Date(timeOf(copy)!).toISOString()} is used, and ${lostSince}`;
}

function ofCopy(files: DatabaseFiles, { lostSince, lost }: Recovery<unknown>): string {
  return lostSince === undefined ? lost : copyText(files, lostSince);
}

// Detects whether a database's write-ahead log (`values.db-wal`) has lost writes, because SQLite reads a log up to the first damage without
// reporting an error. The index of the log (`-shm`), which remains after a kill, shows how much was written.
// https://sqlite.org/walformat.html#the_wal_index_file_format

/** The size of one of the two headers, in bytes. The number of pages that the database already contains follows the headers. */
const headerBytes = 48;
const readBytes = 2 * headerBytes + 4;
const [frames, salt, saltEnd] = [16, 32, 40];
const inDatabase = 2 * headerBytes;

/** The relevant contents of the index of a write-ahead log. */
interface LogIndex {
  /** The number of valid pages in the log. */
  readonly frames: number;
  /** The number of valid pages that the database already contains. */
  readonly inDatabase: number;
  /** Identifies the contents of the log: the salt changes when the log restarts. */
  readonly salt: string;
}

/** Reads the index of a database's write-ahead log; returns undefined if the index is missing or incomplete. */
export function readLogIndex(path: string): LogIndex | undefined {
  const bytes = Buffer.alloc(readBytes);
  try {
    const file = openSync(`${path}-shm`, readFlags);
    try {
      if (readSync(file, bytes, 0, readBytes, 0) < readBytes) return undefined;
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
  const [first, second] = [bytes.subarray(0, headerBytes), bytes.subarray(headerBytes, 2 * headerBytes)];
  if (!first.equals(second)) return undefined;
  return {
    frames: number(first, frames),
    inDatabase: number(bytes, inDatabase),
    salt: first.toString('hex', salt, saltEnd),
  };
}

/**
 * Returns whether a write-ahead log has lost pages that the database does not contain, given the index before and after the log was read.
 */
export function hasLost(before: LogIndex | undefined, after: LogIndex | undefined): boolean {
  if (before === undefined || before.frames <= before.inDatabase) return false;
  if (after === undefined || after.frames === 0) return true;
  return after.salt === before.salt && after.frames < before.frames;
}

/** Reads an integer from the index, which has the byte order of the machine. */
function number(bytes: Buffer, at: number): number {
  return new Uint32Array(bytes.buffer, bytes.byteOffset + at, 1)[0]!;
}
