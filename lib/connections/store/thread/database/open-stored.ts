// Opens a database of a store in any condition. Sets a damaged one aside and uses the hourly copy instead. Still reads one that cannot be
// written. Never throws.

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

/** The options for opening one of the databases. */
interface Opening<Held, Database> extends Recovery<Held> {
  /** The name of its lock in the folder: `hub`. */
  readonly lock: string;
  /** The activity of another hub with the lock, for the error: `keeps its values in this folder`. */
  readonly others: string;
  /** Whether its contents are needed even if it cannot be written. */
  readonly isRead: boolean;
  /** Opens the database for writing. Errors: any SQLite error. */
  open(held: Held | undefined): Database;
}

/** A database that is open until it is closed; `opened` is the result of opening it. */
export interface Stored<Held, Database> {
  readonly opened: OpenedStored<Held>;
  readonly database: Database | undefined;
  close(): void;
}

/** A database that was read, and can be opened for writing. */
export interface Begun<Held, Database> {
  readonly read: ReadStored<Held>;
  /** Opens it, or releases it after an error. Call it once. */
  open(): Stored<Held, Database>;
}

export function openStored<Held, Database extends { close(): void; readonly losses?: readonly string[] }>(
  files: DatabaseFiles,
  opening: Opening<Held, Database>,
): Stored<Held, Database> {
  return beginStored(files, opening).open();
}

/** Takes the lock of a database and reads its contents, so callers do not have to wait until it is open for writing. */
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

/** Reads a database from a temporary copy: SQLite cannot open one in a folder that is read-only or full. */
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

// A folder is used by one hub at a time, and each of its databases by one thread of that hub. The system releases the lock however the hub
// ends.

/** The time to wait for a hub that is shutting down. */
const waitMs = 1000;

export class FolderLock {
  readonly #database: DatabaseSync;

  /** Takes `<name>.lock`. Errors: any SQLite error; busy: another hub uses the folder. */
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

// Recovers a database in any condition: sets a damaged one aside and puts the hourly copy, or a new database, in its place.

interface Recovery<Held> {
  create(path: string): void;
  /** Reads the contents of the database. Errors: any SQLite error, `DamagedError`. */
  read(path: string): Held;
  /** Describes the losses in the contents. */
  lossesOf?(held: Held): readonly string[];
  /** The loss when the copy is used: `later changes are lost`; undefined means the same as without a copy. */
  readonly lostSince: string | undefined;
  /** The loss without a copy: `all values are lost`. */
  readonly lost: string;
}

/**
 * Returns the contents of the database; undefined if it is new. Adds one sentence per loss to `losses`. Errors: any SQLite or file system
 * error.
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
      if (isCopy) rmSync(files.copy, { force: true }); // its contents were just set aside
      const next = isFile(files.copy) ? ofCopy(files, recovery) : recovery.lost;
      const what = isCopy ? 'its copy' : files.path;
      losses.push(`${what} is damaged (${messageOf(error)}), set aside as ${aside}: ${next}`);
    }
  }
}

/** Reads a database and adds its losses. `name` is the original path of a temporary copy. Errors: any SQLite error, `DamagedError`. */
function readStored<Held>(path: string, losses: string[], recovery: Recovery<Held>, name = path): Held {
  const before = readLogIndex(path);
  const held = recovery.read(path);
  losses.push(...(recovery.lossesOf?.(held) ?? []));
  if (recovery.lostSince !== undefined && hasLost(before, readLogIndex(path))) losses.push(lostLog(name));
  return held;
}

/** Describes the loss caused by a damaged log. */
export function lostLog(name: string): string {
  return `${name}-wal is incomplete: the last writes are lost`;
}

/** Returns the age of the hourly copy in milliseconds; 0 if the clock has been set back since. undefined if there is none. */
function ageOf(copy: string): number | undefined {
  return isFile(copy) ? Math.max(0, Date.now() - timeOf(copy)!) : undefined;
}

/** Describes the loss when the hourly copy is used. */
function copyText({ copy }: DatabaseFiles, lostSince: string): string {
  return `the copy of ${new Date(timeOf(copy)!).toISOString()} is used, ${lostSince}`;
}

function ofCopy(files: DatabaseFiles, { lostSince, lost }: Recovery<unknown>): string {
  return lostSince === undefined ? lost : copyText(files, lostSince);
}

// Detects whether the write-ahead log of a database (`values.db-wal`) has lost writes: SQLite reads it up to the first damage and reports
// no error. The index of the log (`-shm`), which remains after a kill, shows how much was written.
// https://sqlite.org/walformat.html#the_wal_index_file_format

/** Two copies of the header, and the number of pages that the database already has. */
const headerBytes = 48;
const readBytes = 2 * headerBytes + 4;
const [frames, salt, saltEnd] = [16, 32, 40];
const inDatabase = 2 * headerBytes;

/** The contents of the index of a log. */
interface LogIndex {
  /** The number of valid pages in the log. */
  readonly frames: number;
  /** The number of these pages that the database already has. */
  readonly inDatabase: number;
  /** Identifies the log: it changes when the log restarts. */
  readonly salt: string;
}

/** Reads the index of the log of a database; undefined if it is missing or incomplete. */
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

/** Returns whether a log, read again, has lost pages that the database does not have. */
export function hasLost(before: LogIndex | undefined, after: LogIndex | undefined): boolean {
  if (before === undefined || before.frames <= before.inDatabase) return false;
  if (after === undefined || after.frames === 0) return true;
  return after.salt === before.salt && after.frames < before.frames;
}

/** The index has the byte order of the machine. */
function number(bytes: Buffer, at: number): number {
  return new Uint32Array(bytes.buffer, bytes.byteOffset + at, 1)[0]!;
}
