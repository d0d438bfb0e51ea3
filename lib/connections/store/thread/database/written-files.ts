// Checks that the files of a database are still as the store left them. SQLite caches its state and would continue to write to files that
// were moved, deleted, truncated or overwritten; all such writes would be lost at the next start.
// https://sqlite.org/walformat.html#the_wal_file_format

import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { readFlags } from '../../../../files/regular-file.ts';
import { exists } from './files.ts';
import { DamagedError, OpenFile } from './store-database.ts';

/** The first bytes of a write-ahead log, except for the last bit, which is the byte order. */
const logMagic = 0x377f0682;

export class WrittenFiles {
  readonly #path: string;
  readonly #file: OpenFile;
  /** The write-ahead log; undefined until it exists. */
  #log: OpenFile | undefined;
  #bytes = 0;

  constructor(path: string) {
    this.#path = path;
    this.#file = new OpenFile(path);
  }

  /**
   * Checks that the files are in place and complete. Errors: `DamagedError` if the database was moved, deleted or truncated, or if its log
   * was moved, deleted or overwritten.
   */
  expectWhole(): void {
    if (!this.#file.isInPlace) throw new DamagedError('the file was moved or deleted');
    const { size } = statSync(this.#path);
    if (size < this.#bytes) throw new DamagedError('the file was truncated');
    this.#bytes = size;
    const log = `${this.#path}-wal`;
    if (this.#log === undefined && exists(log)) this.#log = new OpenFile(log);
    if (this.#log?.isInPlace === false) throw new DamagedError('its log was moved or deleted');
    if (this.#log !== undefined && !isLog(log)) throw new DamagedError('its log was overwritten');
  }
}

/**
 * Returns whether a file is a write-ahead log or empty. Never call this function for the database file, because closing that file would
 * release SQLite's locks.
 */
function isLog(path: string): boolean {
  const bytes = Buffer.alloc(4);
  const file = openSync(path, readFlags);
  try {
    return readSync(file, bytes) === 0 || (bytes.readUInt32BE() & ~1) >>> 0 === logMagic;
  } finally {
    closeSync(file);
  }
}
