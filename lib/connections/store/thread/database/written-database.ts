// The database that a thread writes: it is open or not, and what goes wrong with a write says what is to be done next.

import { messageOf } from '../../../../model/error.ts';
import type { OpenedStored, Written } from '../values/values-messages.ts';
import type { Stored } from './open-stored.ts';
import type { LeftOutRows } from './read-rows.ts';
import { troubleOf } from './store-database.ts';

interface Database {
  /** Takes what is written out of the log before the database, so that there is room again. Errors: those of SQLite. */
  emptyLog(): void;
  /** Rows of what was written last that it cannot take. */
  readonly leftOut: LeftOutRows;
  close(): void;
}

export class WrittenDatabase<Held, Kind extends Database> {
  #stored: Stored<Held, Kind> | undefined;

  get database(): Kind | undefined {
    return this.#stored?.database;
  }

  /** Opens a database in place of that which is open. */
  open(openStored: () => Stored<Held, Kind>): OpenedStored<Held> {
    this.close();
    this.#stored = openStored();
    return this.#stored.opened;
  }

  /** Writes; where there is no room it does so once more when the log is emptied. What is damaged is closed. */
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
    } catch {} // what is damaged may not close
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
