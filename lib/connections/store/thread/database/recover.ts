// Leaves a database in its place that can be written, whatever has become of it: a damaged one is set aside, and the copy of the
// last hour takes its place.

import { rmSync } from 'node:fs';
import { messageOf } from '../../../../model/error.ts';
import { type DatabaseFiles, exists, isFile, setAside, timeOf, useCopy } from './files.ts';
import { hasLost, readLogIndex } from './log-index.ts';
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
