// A folder belongs to one hub at a time, each of its databases to one thread of it. The system frees it when that hub ends, however
// it does.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { troubleOf } from './trouble.ts';

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
