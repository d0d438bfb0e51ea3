// What it means that SQLite has refused something: https://sqlite.org/rescode.html

/** damaged: the file is broken; full: no room; busy: somebody else has it; unusable: the folder or the disk does not let us. */
export type Trouble = 'damaged' | 'full' | 'busy' | 'unusable';

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
