// The room that a transaction needs is there before it begins: in the database, in the log before it, and on the disk.

import { statfsSync, statSync } from 'node:fs';
import { expectRoom, NoRoomError } from '../../thread/database/free-room.ts';
import type { HistoryRoom } from '../messages.ts';
import type { HistoryDatabase } from './history-database.ts';
import { makeRoom } from './make-room.ts';

/** How often the oldest quarter of what there is is deleted for one transaction: then a thousandth of it is left. */
const makingRounds = 24;
/** How many pages a transaction may need beside its own. */
const sparePages = 16;

/** A history takes no more than a quarter of a disk. */
export function roomOnDisk(folder: string, { databaseBytes, logBytes }: HistoryRoom): HistoryRoom {
  const { blocks, bsize } = statfsSync(folder);
  const share = Math.min(1, (blocks * bsize) / 4 / (databaseBytes + logBytes));
  return { databaseBytes: Math.floor(databaseBytes * share), logBytes: Math.floor(logBytes * share) };
}

export class Room {
  readonly #folder: string;
  readonly #path: string;
  readonly #database: HistoryDatabase;
  readonly #logBytes: number;

  constructor(folder: string, path: string, database: HistoryDatabase, { logBytes }: HistoryRoom) {
    this.#folder = folder;
    this.#path = path;
    this.#database = database;
    this.#logBytes = logBytes;
  }

  /** Makes room for a transaction. Errors: where there is none, with the code ENOSPC; those of SQLite. */
  prepare(): void {
    this.#expectDisk();
    const log = statSync(`${this.#path}-wal`, { throwIfNoEntry: false });
    if (log !== undefined && log.size > this.#logBytes && !this.#database.emptyLog())
      throw new NoRoomError(
        'another program reads history.db and does not come to an end, so its log cannot be emptied',
      );
    const pages = this.#database.transactionPages + sparePages;
    for (let round = 0; round < makingRounds; round++) {
      if (this.#database.freePages >= pages) return;
      for (const _ of makeRoom(this.#database)) if (this.#database.freePages >= pages) return;
    }
    throw new NoRoomError('the room that maxSize leaves for the history is used up');
  }

  /** On a disk that is nearly full the room of the log is given back first. */
  #expectDisk(): void {
    try {
      expectRoom(this.#folder, 'history');
    } catch (error) {
      if (!(error instanceof NoRoomError)) throw error;
      this.#database.emptyLog(true);
      expectRoom(this.#folder, 'history');
    }
  }
}
