// Finds out whether the log before a database (`values.db-wal`) has lost what was written: SQLite reads it up to the first damage and
// says nothing. The index of the log (`-shm`), which a hub that was killed leaves behind, tells how much there was.
// https://sqlite.org/walformat.html#the_wal_index_file_format

import { closeSync, openSync, readSync } from 'node:fs';
import { readFlags } from '../../../../files/regular-file.ts';

/** Two copies of the header, and how much of the log the database has. */
const headerBytes = 48;
const readBytes = 2 * headerBytes + 4;
const [frames, salt, saltEnd] = [16, 32, 40];
const inDatabase = 2 * headerBytes;

/** What the index of a log says. */
export interface LogIndex {
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
