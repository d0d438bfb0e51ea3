// The room that a transaction needs is there before it begins: in the database, in the log before it, and on the disk.

import { statfsSync, statSync } from 'node:fs';
import type { HistoryRoom } from '../messages.ts';
import type { HistoryDatabase } from './history-database.ts';
import { makeRoom } from './make-room.ts';

/** The history stops when so much of a disk, or a tenth of it, is left: the rest is for the audit and the values. */
const leftBytes = 64_000_000;
/** How often the oldest quarter of what there is is deleted for one transaction: then a thousandth of it is left. */
const makingRounds = 24;
/** How many pages a transaction may need beside its own. */
const sparePages = 16;

/** Where there is no room. */
class FullError extends Error {
  readonly code = 'ENOSPC';
}

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
  prepare(now: number): void {
    this.#expectDisk();
    const log = statSync(`${this.#path}-wal`, { throwIfNoEntry: false });
    if (log !== undefined && log.size > this.#logBytes && !this.#database.emptyLog())
      throw new FullError('another program reads history.db and does not come to an end, so its log cannot be emptied');
    const pages = this.#database.transactionPages + sparePages;
    for (let round = 0; round < makingRounds; round++) {
      if (this.#database.freePages >= pages) return;
      for (const _ of makeRoom(this.#database, now)) if (this.#database.freePages >= pages) return;
    }
    throw new FullError('the room that maxSize leaves for the history is used up');
  }

  #expectDisk(): void {
    const { bavail, blocks, bsize } = statfsSync(this.#folder);
    const left = bavail * bsize;
    if (left < Math.min(leftBytes, (blocks * bsize) / 10))
      throw new FullError(`the disk is full but for ${(left / 1_000_000).toFixed(1)} MB`);
  }
}
