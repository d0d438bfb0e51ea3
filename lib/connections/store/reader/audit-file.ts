// The audit database as seen by readers: `audit.db`, opened read-only.
import type { DatabaseSync } from 'node:sqlite';
import type { AuditPage } from '../../../wire/http/past-shapes.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { AuditQuestion } from '../../persistence.ts';
import { findEntries } from '../audit/find-entries.ts';
import { OpenFile, readDatabase } from '../thread/database/store-database.ts';
import type { Deadline } from './past-moment.ts';

export class AuditFile {
  readonly #file: OpenFile;
  readonly #database: DatabaseSync;

  /** Opens the audit database read-only. Errors: any SQLite or file system error, `DamagedError`. After an error, nothing remains open. */
  constructor(path: string) {
    this.#database = readDatabase(path);
    try {
      this.#file = new OpenFile(path);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Whether the file at the path is still the open file. */
  get isInPlace(): boolean {
    return this.#file.isInPlace;
  }

  close(): void {
    this.#database.close();
  }

  /** Returns a page of audit entries as JSON. Errors: any SQLite error; `unavailable` if the query takes too long. */
  answer(question: AuditQuestion, deadline: Deadline): string {
    const { entries, hasMore } = findEntries(this.#database, question, () => deadline.check());
    const page: AuditPage = {
      entries: entries.map(({ time, ...entry }) => ({ ...entry, time: toIsoTime(time) })),
      ...(hasMore && { next: entries.at(-1)!.n }),
    };
    return JSON.stringify(page);
  }
}

// A database that stays open between queries as long as its file stays in place.

interface Openable {
  readonly isInPlace: boolean;
  close(): void;
}

export class Opened<Database extends Openable> {
  readonly #open: (path: string) => Database;
  #path = '';
  #database: Database | undefined;

  constructor(open: (path: string) => Database) {
    this.#open = open;
  }

  /** Returns the database at a path, which is opened again if its file was replaced. Errors: any error from opening the database. */
  at(path: string): Database {
    if (this.#database === undefined || this.#path !== path || !this.#database.isInPlace) {
      this.close();
      this.#database = this.#open(path);
      this.#path = path;
    }
    return this.#database;
  }

  close(): void {
    try {
      this.#database?.close();
    } catch {} // a damaged database may fail to close
    this.#database = undefined;
  }
}
