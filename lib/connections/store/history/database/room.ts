// Frees space in the database, in its write-ahead log and on the disk before a transaction begins.
import { statfsSync, statSync } from 'node:fs';
import { dayMs } from '../../../../model/time/iso-time.ts';
import { isWithin } from '../../thread/database/read-rows.ts';
import { expectRoom, NoRoomError } from '../../thread/database/store-database.ts';
import type { HistoryRoom } from '../history-messages.ts';
import { hourMs } from '../history-tables.ts';
import type { Interval } from '../segments.ts';
import { always, dropChanges, dropSpans, hoursOf } from './drop.ts';
import type { HistoryDatabase, SpanTable } from './history-database.ts';
import type { AgesOfHours } from './hour-ages.ts';

/**
 * The maximum number of times that the oldest quarter of the data is deleted for one transaction. After so many times, a thousandth of the
 * data is left.
 */
const makingRounds = 24;
/** The number of pages that a transaction may need in addition to its own pages. */
const sparePages = 16;

/** Returns the maximum sizes for the disk that contains a folder: a history takes up at most a quarter of the disk. */
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

  /** Frees space for a transaction. Errors: any SQLite error; code ENOSPC if there is not enough space. */
  prepare(): void {
    this.#expectDisk();
    const log = statSync(`${this.#path}-wal`, { throwIfNoEntry: false });
    if (log !== undefined && log.size > this.#logBytes && !this.#database.emptyLog())
      throw new NoRoomError(
        'the log of history.db cannot be emptied, because another program keeps reading the database: close that program',
      );
    const pages = this.#database.transactionPages + sparePages;
    for (let round = 0; round < makingRounds; round++) {
      if (this.#database.freePages >= pages) return;
      for (const _ of makeRoom(this.#database)) if (this.#database.freePages >= pages) return;
    }
    throw new NoRoomError('the space that maxSize leaves for the history is used up');
  }

  /**
   * Checks that the disk has enough space. If the disk is nearly full, frees the space of the write-ahead log first. Errors: `NoRoomError`.
   */
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

// When the space is used up, the rows that were written first are deleted first: changes, hour by hour, then minutes, and finally a quarter
// of the remaining data.

/** The age above which minutes are deleted before the changes of the current hour are, in milliseconds. */
const keptMinutesMs = dayMs;
/**
 * The shares of the time since the oldest span. The rows in each share are deleted, one share after the other, until there is enough space.
 */
const shares = [1 / 4, 1 / 2, 3 / 4, 15 / 16];

type Steps = Generator<void, void, void>;

/** Deletes the oldest rows in steps. The caller stops as soon as there is enough space. */
function* makeRoom(database: HistoryDatabase): Steps {
  const ages = database.ages.all();
  const { ran } = database.ages;
  const hours = [...hoursOf(database)].sort((one, other) => ages.notedAt(one) - ages.notedAt(other));
  for (const hour of hours) if (ran - ages.notedAt(hour) >= hourMs) yield* dropChanges(database, hour, () => [always]);
  if (ran - oldestSpan(database, 'minute', ages) > keptMinutesMs) yield* dropOldSpans(database, 'minute', ages);
  for (const hour of hours) {
    const cut = quarterOf(database, hour);
    if (cut !== undefined) yield* dropChanges(database, hour, () => [cut]);
  }
  yield* dropOldSpans(database, 'minute', ages);
  yield* dropOldSpans(database, 'hour', ages);
}

function* dropOldSpans(database: HistoryDatabase, table: SpanTable, ages: AgesOfHours): Steps {
  const { ran } = database.ages;
  const oldest = oldestSpan(database, table, ages);
  for (const share of shares) {
    const cut = ages.upTo(oldest + Math.max(1, (ran - oldest) * share));
    yield* dropSpans(database, table, () => cut);
  }
}

/** Returns the first quarter of the time between the first and the last change within an hour; undefined if the hour has no changes. */
function quarterOf({ database }: HistoryDatabase, hour: number): Interval | undefined {
  const time = (which: 'min' | 'max') => {
    const ofEach = (table: string) =>
      `(SELECT ${which}(time) FROM ${table} WHERE hour = ?1 AND parameter = id AND ${isWithin('time', 'time')}) AS time`;
    const all = ['change_row', 'change_block'].map((table) => `SELECT ${ofEach(table)} FROM parameter`);
    const row = database.prepare(`SELECT ${which}(time) AS time FROM (${all.join(' UNION ALL ')})`).get(hour);
    return (row as { time: number | null }).time;
  };
  const [oldest, newest] = [time('min'), time('max')];
  if (oldest === null || newest === null) return undefined;
  return { from: oldest, to: oldest + Math.max(1, (newest - oldest) / 4) };
}

/** Returns the time, on the age clock, at which the oldest minute or hour was written; Infinity if the table is empty. */
function oldestSpan({ database }: HistoryDatabase, table: SpanTable, ages: AgesOfHours): number {
  const { time } = database
    .prepare(
      `SELECT min((SELECT min(time) FROM ${table} WHERE parameter = id AND ${isWithin('time', 'time')})) AS time FROM parameter`,
    )
    .get() as { time: number | null };
  return time === null ? Number.POSITIVE_INFINITY : ages.oldestFrom(Math.floor(time / hourMs));
}
