// Leaves a database in its place that can be written, whatever has become of it: a damaged one is set aside, and the copy of the
// last hour takes its place.
import { closeSync, openSync, readSync, rmSync } from 'node:fs';
import { readFlags } from '../../../../files/regular-file.ts';
import { messageOf } from '../../../../model/error.ts';
import { type DatabaseFiles, exists, isFile, setAside, timeOf, useCopy } from './files.ts';
import { troubleOf } from './trouble.ts';

export interface Recovery<Held> {
  create(path: string): void;
  /** Reads what the database holds. Errors: those of SQLite, `DamagedError`. */
  read(path: string): Held;
  /** Says what is lost of what was read. */
  lossesOf?(held: Held): readonly string[];
  /** What is said where the copy is used: `later changes are lost`; undefined: no more than where there is none. */
  readonly lostSince: string | undefined;
  /** What is said where there is none: `all values are lost`. */
  readonly lost: string;
}

/**
 * Returns what the database holds; undefined: it is new. Adds a sentence to `losses` for all that is lost. Errors: those of SQLite
 * and of the file system.
 */
export function recover<Held>(files: DatabaseFiles, losses: string[], recovery: Recovery<Held>): Held | undefined {
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
      if (isCopy) rmSync(files.copy, { force: true }); // it has just been set aside
      const next = isFile(files.copy) ? ofCopy(files, recovery) : recovery.lost;
      const what = isCopy ? 'its copy' : files.path;
      losses.push(`${what} is damaged (${messageOf(error)}), set aside as ${aside}: ${next}`);
    }
  }
}

/**
 * Reads a database, and says what is lost of it. `name` is what it is called where it was copied to be read. Errors: those of SQLite,
 * `DamagedError`.
 */
export function readStored<Held>(path: string, losses: string[], recovery: Recovery<Held>, name = path): Held {
  const before = readLogIndex(path);
  const held = recovery.read(path);
  losses.push(...(recovery.lossesOf?.(held) ?? []));
  if (recovery.lostSince !== undefined && hasLost(before, readLogIndex(path))) losses.push(lostLog(name));
  return held;
}

/** Says that the log before a database was damaged. */
export function lostLog(name: string): string {
  return `${name}-wal is not whole: what was written last is lost`;
}

/** How old the copy of the last hour is, in milliseconds; 0 where the clock was set back since. undefined: there is none. */
export function ageOf(copy: string): number | undefined {
  return isFile(copy) ? Math.max(0, Date.now() - timeOf(copy)!) : undefined;
}

/** Says that the copy of the last hour is used, and what is lost. */
export function copyText({ copy }: DatabaseFiles, lostSince: string): string {
  return `the copy of ${new Date(timeOf(copy)!).toISOString()} is used, ${lostSince}`;
}

function ofCopy(files: DatabaseFiles, { lostSince, lost }: Recovery<unknown>): string {
  return lostSince === undefined ? lost : copyText(files, lostSince);
}

// Finds out whether the log before a database (`values.db-wal`) has lost what was written: SQLite reads it up to the first damage and
// says nothing. The index of the log (`-shm`), which a hub that was killed leaves behind, tells how much there was.
// https://sqlite.org/walformat.html#the_wal_index_file_format

/** Two copies of the header, and how much of the log the database has. */
const headerBytes = 48;
const readBytes = 2 * headerBytes + 4;
const [frames, salt, saltEnd] = [16, 32, 40];
const inDatabase = 2 * headerBytes;

/** What the index of a log says. */
interface LogIndex {
  /** How many pages the log has that are valid. */
  readonly frames: number;
  /** How many of them the database has too. */
  readonly inDatabase: number;
  /** Names the log: when it begins anew it has another one. */
  readonly salt: string;
}

/** Reads the index of the log of a database; undefined: there is none, or nobody has finished writing it. */
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

/** Whether a log that was read again has less than before of what the database has not. */
export function hasLost(before: LogIndex | undefined, after: LogIndex | undefined): boolean {
  if (before === undefined || before.frames <= before.inDatabase) return false;
  if (after === undefined || after.frames === 0) return true;
  return after.salt === before.salt && after.frames < before.frames;
}

/** The index has the byte order of the machine. */
function number(bytes: Buffer, at: number): number {
  return new Uint32Array(bytes.buffer, bytes.byteOffset + at, 1)[0]!;
}
