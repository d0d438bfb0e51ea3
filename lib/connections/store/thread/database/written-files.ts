// The files of a database, as long as they are what its writer has left. SQLite keeps in mind what it needs: it goes on in files that
// somebody has moved, deleted, cut or overwritten, and all that it writes there is lost at the next start.
// https://sqlite.org/walformat.html#the_wal_file_format

import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { readFlags } from '../../../../files/regular-file.ts';
import { exists } from './files.ts';
import { DamagedError, OpenFile } from './store-database.ts';

/** A log before a database begins with it; the last bit tells the order of bytes. */
const logMagic = 0x377f0682;

export class WrittenFiles {
  readonly #path: string;
  readonly #file: OpenFile;
  /** The log, once it is there. */
  #log: OpenFile | undefined;
  #bytes = 0;

  constructor(path: string) {
    this.#path = path;
    this.#file = new OpenFile(path);
  }

  /** Errors: `DamagedError` when somebody has moved, deleted or cut the database, or moved, deleted or overwritten its log. */
  expectWhole(): void {
    if (!this.#file.isInPlace) throw new DamagedError('the file is no longer in its place');
    const { size } = statSync(this.#path);
    if (size < this.#bytes) throw new DamagedError('it was cut off');
    this.#bytes = size;
    const log = `${this.#path}-wal`;
    if (this.#log === undefined && exists(log)) this.#log = new OpenFile(log);
    if (this.#log?.isInPlace === false) throw new DamagedError('the log before it is no longer in its place');
    if (this.#log !== undefined && !isLog(log)) throw new DamagedError('the log before it was overwritten');
  }
}

/** An empty one is a log too. The database itself is not opened: to close it again would end the locks of SQLite. */
function isLog(path: string): boolean {
  const bytes = Buffer.alloc(4);
  const file = openSync(path, readFlags);
  try {
    return readSync(file, bytes) === 0 || (bytes.readUInt32BE() & ~1) >>> 0 === logMagic;
  } finally {
    closeSync(file);
  }
}
