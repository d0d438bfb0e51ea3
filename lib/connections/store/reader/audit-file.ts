// The audit as a reader finds it: `audit.db` is opened to read.
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

  /** Errors: those of SQLite and of the file system, `DamagedError`; nothing is open then. */
  constructor(path: string) {
    this.#database = readDatabase(path);
    try {
      this.#file = new OpenFile(path);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Whether what is open is still what is at the path. */
  get isInPlace(): boolean {
    return this.#file.isInPlace;
  }

  close(): void {
    this.#database.close();
  }

  /** A page as it is sent. Errors: those of SQLite, `unavailable` when it takes too long. */
  answer(question: AuditQuestion, deadline: Deadline): string {
    const { entries, hasMore } = findEntries(this.#database, question, () => deadline.check());
    const page: AuditPage = {
      entries: entries.map(({ time, ...entry }) => ({ ...entry, time: toIsoTime(time) })),
      ...(hasMore && { next: entries.at(-1)!.n }),
    };
    return JSON.stringify(page);
  }
}

// A database that stays open from one question to the next, as long as its file is in its place.

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

  /** Errors: those of opening it. */
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
    } catch {} // what is damaged may not close
    this.#database = undefined;
  }
}
