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
