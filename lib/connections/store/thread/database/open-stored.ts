// Opens a database of a store, whatever has become of it: a damaged one is set aside and the copy of the last hour takes its place;
// one that cannot be written is read all the same. It never throws.
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { messageOf } from '../../../../model/error.ts';
import type { OpenedStored } from '../values/messages.ts';
import { clearLog, companions, type DatabaseFiles, isFile } from './files.ts';
import { ageOf, copyText, type Recovery, readStored, recover } from './recover.ts';
import { troubleOf } from './trouble.ts';

/** How one of the databases is opened. */
interface Opening<Held, Database> extends Recovery<Held> {
  /** The lock of it in its folder: `hub`. */
  readonly lock: string;
  /** What another hub does that has the lock: `keeps its values in this folder`. */
  readonly others: string;
  /** Whether what it holds is wanted also where it cannot be written. */
  readonly isRead: boolean;
  /** Opens the database in its place to write it. Errors: those of SQLite. */
  open(held: Held | undefined): Database;
}

/** What is open until it is closed; `opened` says what came of it. */
export interface Stored<Held, Database> {
  readonly opened: OpenedStored<Held>;
  readonly database: Database | undefined;
  close(): void;
}

export function openStored<Held, Database extends { close(): void; readonly losses?: readonly string[] }>(
  files: DatabaseFiles,
  opening: Opening<Held, Database>,
): Stored<Held, Database> {
  const losses: string[] = [];
  let lock: FolderLock | undefined;
  let held: Held | undefined;
  try {
    mkdirSync(files.folder, { recursive: true });
    lock = new FolderLock(files.folder, opening.lock);
    const cleared = clearLog(files);
    held = recover(files, losses, opening);
    losses.unshift(...cleared);
    const database = opening.open(held);
    losses.push(...(database.losses ?? []));
    const close = () => {
      database.close();
      lock?.free();
    };
    return { opened: { losses, held, reason: undefined, copyAgeMs: ageOf(files.copy) }, database, close };
  } catch (error) {
    lock?.free();
    const isBusy = lock === undefined && troubleOf(error) === 'busy';
    if (opening.isRead && !isBusy) held ??= readElsewhere(files, losses, opening);
    const reason = `cannot write ${files.path}: ${isBusy ? `another hub ${opening.others}` : messageOf(error)}`;
    return { opened: { losses, held, reason, copyAgeMs: undefined }, database: undefined, close: () => {} };
  }
}

/** Reads a database where we may write: one whose folder is read-only or full cannot be opened there. */
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

// A folder belongs to one hub at a time, each of its databases to one thread of it. The system frees it when that hub ends, however
// it does.

/** How long a hub that is just ending is waited for. */
const waitMs = 1000;

export class FolderLock {
  readonly #database: DatabaseSync;

  /** Takes `<name>.lock`. Errors: those of SQLite; busy: another hub has the folder. */
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
