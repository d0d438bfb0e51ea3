// The database to which a thread writes, whether open or closed. The result of a failed write determines the next step.

import { messageOf } from '../../../../model/error.ts';
import type { OpenedStored, Written } from '../values/values-messages.ts';
import type { Stored } from './open-stored.ts';
import type { LeftOutRows } from './read-rows.ts';
import { troubleOf } from './store-database.ts';

interface Database {
  /** Moves the contents of the write-ahead log into the database to free space. Errors: any SQLite error. */
  emptyLog(): void;
  /** The rows in the last batch that the database refused. */
  readonly leftOut: LeftOutRows;
  close(): void;
}

export class WrittenDatabase<Held, Kind extends Database> {
  /** The open database, without the contents that were read from it, which would take up memory. */
  #stored: Omit<Stored<Held, Kind>, 'opened'> | undefined;

  get database(): Kind | undefined {
    return this.#stored?.database;
  }

  /** Opens a database with `openStored`, after closing the database that is open. */
  open(openStored: () => Stored<Held, Kind>): OpenedStored<Held> {
    this.close();
    const { opened, ...stored } = openStored();
    this.#stored = stored;
    return opened;
  }

  /**
   * Writes a batch with `work`. If there is no space, empties the write-ahead log and tries once more. After any other error, closes the
   * database.
   */
  write(work: (database: Kind) => void): Written {
    try {
      this.#writeInRoom(work);
      return { state: 'written', leftOut: this.database?.leftOut.take() };
    } catch (error) {
      const trouble = troubleOf(error);
      if (trouble === 'full' || trouble === 'busy') return { state: 'full', reason: messageOf(error) };
      this.close();
      return { state: trouble === 'damaged' ? 'damaged' : 'closed', reason: messageOf(error) };
    }
  }

  close(): void {
    try {
      this.#stored?.close();
    } catch {} // a damaged database may fail to close
    this.#stored = undefined;
  }

  #writeInRoom(work: (database: Kind) => void): void {
    const database = this.#stored!.database!;
    try {
      work(database);
    } catch (error) {
      if (troubleOf(error) !== 'full') throw error;
      database.emptyLog();
      work(database);
    }
  }
}
