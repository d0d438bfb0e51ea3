// The database of the audit and the log, `audit.db`. It deletes the oldest rows when they are too old or when it is too large.
import { dirname } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type LogEntry, type LogLevel, logLevels } from '../../../model/reports/log-entry.ts';
import { type ClockReading, readClocks } from '../../../model/time/age-clock.ts';
import type { Value, ValueType } from '../../../model/value.ts';
import { filesOf } from '../thread/database/files.ts';
import { openStored, type Stored } from '../thread/database/open-stored.ts';
import {
  dropOutOfRange,
  droppedText,
  isWithin,
  LeftOutRows,
  type NumberColumns,
  readRows,
  storedText,
} from '../thread/database/read-rows.ts';
import {
  checkDatabase,
  checkSmallDatabase,
  createDatabase,
  emptyLog,
  expectRoom,
  inTransaction,
  openDatabase,
  readDatabase,
  troubleOf,
} from '../thread/database/store-database.ts';
import { WrittenFiles } from '../thread/database/written-files.ts';
import { giveWay } from '../thread/give-way.ts';
import type { AuditBatch, AuditRow, HeldAudit, OpenAudit, Run } from './audit-messages.ts';
import { keptLogEntries, logBytes, readLogEntries, tables } from './audit-tables.ts';
import { EntryAges } from './find-entries.ts';

/** How often it deletes rows that are too old, and the most rows in one transaction. */
const pruneEveryMs = 60_000;
const prunedRows = 10_000;
/** At this share of its maximum size the database deletes its oldest rows, up to `forgottenShare` of all rows. */
const fullShare = 0.9;
const forgottenShare = 0.1;

/** The size of a row besides its texts, with its index entry; and the size of pages that a batch writes only in part. */
const rowBytes = 64;
const spareBytes = 64 * 1024;

const putEntry = `INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET after = excluded.after, count = excluded.count`;
const putLog = 'INSERT INTO log VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
const putRun = `INSERT INTO run VALUES (1, ?, ?, ?)
  ON CONFLICT DO UPDATE SET seen = excluded.seen, is_clean = excluded.is_clean, count = excluded.count`;

const numbers: readonly NumberColumns[] = [
  ['entry', 'count', 'n'],
  ['entry', 'time', 'time'],
  ['log', 'count', 'n'],
  ['log', 'time', 'time'],
  ['run', 'time', 'seen'],
  ['age', 'time', 'ran', 'wall'],
  ['age', 'count', 'disordered'],
  ['age_mark', 'time', 'ran'],
  ['age_mark', 'count', 'n'],
];

export class AuditDatabase {
  /** A sentence for each loss when it was opened, with the reason. */
  readonly losses: readonly string[];
  readonly #folder: string;
  readonly #files: WrittenFiles;
  readonly #database: DatabaseSync;
  readonly #maxPages: number;
  readonly #putEntry: StatementSync;
  readonly #putLog: StatementSync;
  readonly #putRun: StatementSync;
  readonly #ages: EntryAges;
  #prunedAt = Number.NEGATIVE_INFINITY;
  readonly leftOut = new LeftOutRows();

  /** Opens an existing database. Errors: those of SQLite. After an error nothing stays open. */
  constructor(path: string, maxBytes: number, keepMs: number, now = readClocks()) {
    this.#folder = dirname(path);
    this.#database = openDatabase(path, maxBytes, logBytes, 1);
    try {
      this.#files = new WrittenFiles(path);
      let dropped = 0;
      inTransaction(this.#database, () => {
        this.#database.exec(tables); // an earlier version had fewer
        dropped = dropOutOfRange(this.#database, numbers);
      });
      this.losses = droppedText(path, dropped);
      this.#ages = new EntryAges(this.#database, keepMs, now);
      this.#maxPages = this.#number('PRAGMA max_page_count');
      this.#putEntry = this.#database.prepare(putEntry);
      this.#putLog = this.#database.prepare(putLog);
      this.#putRun = this.#database.prepare(putRun);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Reads the data for the hub without changing the database. Errors: those of SQLite, `DamagedError`. */
  static read(path: string, { isRead, isSuspect }: Pick<OpenAudit, 'isRead' | 'isSuspect'>): HeldAudit {
    const database = readDatabase(path);
    try {
      if (isSuspect) checkDatabase(database);
      else checkSmallDatabase(database, path);
      const last = (table: string) =>
        (
          database.prepare(`SELECT coalesce(max(n), 0) AS n FROM ${table} WHERE ${isWithin('count', 'n')}`).get() as {
            n: number;
          }
        ).n;
      const run = readRun(database);
      const log = isRead && run !== undefined ? { ...readLog(database), ...endOf(run) } : undefined;
      return { lastEntry: last('entry'), lastLog: last('log'), run, log };
    } finally {
      database.close();
    }
  }

  /**
   * Writes a batch in one transaction, without rows that the database refuses. Once it returns, the batch is on the disk. Errors: those of
   * SQLite, `DamagedError`.
   */
  write(batch: AuditBatch, now = readClocks()): void {
    this.#files.expectWhole();
    expectRoom(this.#folder, 'audit', bytesOf(batch));
    try {
      this.#put(batch, now);
    } catch (error) {
      if (troubleOf(error) !== 'full' || !this.#isLarge()) throw error;
      this.#forgetOldest();
      this.#put(batch, now);
    }
    this.#prune();
  }

  /** The time of the oldest entry; undefined: there is none. */
  oldest(): number | undefined {
    const row = this.#database.prepare('SELECT time FROM entry ORDER BY n LIMIT 1').get() as
      | { time: number }
      | undefined;
    return row?.time;
  }

  /** Empties the log and leaves its space to the values. Errors: those of SQLite. */
  emptyLog(): void {
    emptyLog(this.#database, true);
  }

  close(): void {
    this.#database.close();
  }

  #put({ rows, log, run }: AuditBatch, now: ClockReading): void {
    this.leftOut.forget();
    inTransaction(this.#database, () => {
      for (const row of rows) {
        giveWay();
        try {
          this.#putRow(row);
        } catch (error) {
          this.leftOut.note(`${row.kind} of ${row.address || row.user}`, error);
        }
      }
      for (const { n, time, level, connection = null, rule = null, message } of log)
        try {
          this.#putLog.run(BigInt(n), BigInt(Math.trunc(time)), level, connection, rule, message);
        } catch (error) {
          this.leftOut.note('an entry of the log', error);
        }
      this.#putRun.run(BigInt(Math.trunc(run.seen)), run.isClean ? 1n : 0n, run.count);
      this.#ages.note(rows, now);
    });
  }

  #putRow({ n, time, kind, user, address, type, before, after, count, cause }: AuditRow): void {
    const [old, now] = [stored(type, before), stored(type, after)];
    this.#putEntry.run(BigInt(n), BigInt(Math.trunc(time)), kind, user, address, type, old, now, BigInt(count), cause);
  }

  /** Deletes some of the rows that are too old or too many. */
  #prune(): void {
    if (this.#isLarge()) this.#forgetOldest();
    const now = this.#ages.ran;
    if (now - this.#prunedAt < pruneEveryMs) return;
    const old = 'SELECT n FROM entry WHERE n <= ? ORDER BY n LIMIT ?';
    const many = 'SELECT n FROM log ORDER BY n DESC LIMIT 1 OFFSET ?';
    let pruned = 0;
    inTransaction(this.#database, () => {
      const last = BigInt(this.#ages.takeTooOld());
      pruned = Number(this.#run(`DELETE FROM entry WHERE n IN (${old})`, last, BigInt(prunedRows)));
      this.#run(`DELETE FROM log WHERE n <= (${many})`, BigInt(keptLogEntries));
    });
    if (pruned < prunedRows) this.#prunedAt = now;
  }

  #isLarge(): boolean {
    const used = this.#number('PRAGMA page_count') - this.#number('PRAGMA freelist_count');
    return used > this.#maxPages * fullShare;
  }

  #forgetOldest(): void {
    inTransaction(this.#database, () => {
      for (const table of ['entry', 'log']) {
        const count = this.#number(`SELECT count(*) FROM ${table}`);
        const last = `SELECT n FROM ${table} ORDER BY n LIMIT 1 OFFSET ?`;
        const forgotten = Math.min(prunedRows, Math.floor(count * forgottenShare));
        this.#run(`DELETE FROM ${table} WHERE n <= (${last})`, BigInt(forgotten));
      }
    });
  }

  #run(sql: string, ...values: bigint[]): number | bigint {
    return this.#database.prepare(sql).run(...values).changes;
  }

  #number(sql: string): number {
    return Object.values(this.#database.prepare(sql).get() as Record<string, number>)[0]!;
  }
}

/** The most bytes of a number or a boolean. */
const numberBytes = 9;

/** Returns the approximate size of a batch in the write-ahead log. */
function bytesOf({ rows, log }: AuditBatch): number {
  const lengthOf = (value: unknown) => (typeof value === 'string' ? value.length : numberBytes);
  let bytes = spareBytes;
  for (const { user, address, before, after, cause } of rows)
    bytes += user.length + address.length + lengthOf(before) + lengthOf(after) + cause.length + rowBytes;
  for (const { message } of log) bytes += message.length + rowBytes;
  return bytes;
}

function readRun(database: DatabaseSync): Run | undefined {
  const select = `SELECT seen, is_clean, count FROM run WHERE ${isWithin('time', 'seen')}`;
  const [row] = readRows(database.prepare(select)) as [seen: number, isClean: number, count: string][];
  return row && { seen: row[0], isClean: row[1] === 1, count: row[2] };
}

function readLog(database: DatabaseSync): { entries: LogEntry[] } {
  const where = `${isWithin('count', 'n')} AND ${isWithin('time', 'time')}`;
  const select = `SELECT n, time, level, connection, rule, message FROM log WHERE ${where} ORDER BY n DESC LIMIT ?`;
  const rows = readRows(database.prepare(select), readLogEntries) as LogRow[];
  const entries = rows
    .reverse()
    .filter(([, , level]) => logLevels.includes(level))
    .map(([n, time, level, connection, rule, message]) => ({
      ...{ n, time, level, message },
      ...(connection !== null && { connection }),
      ...(rule !== null && { rule }),
    }));
  return { entries };
}

type LogRow = [
  n: number,
  time: number,
  level: LogLevel,
  connection: string | null,
  rule: string | null,
  message: string,
];

function endOf({ seen, isClean, count }: Run) {
  return { endedAt: seen, isClean, count };
}

/** Stores integers and booleans as integers: SQLite would store each JavaScript number as a float. */
function stored(type: ValueType | '', value: Value | undefined): string | Uint8Array | number | bigint | null {
  if (value === undefined) return null;
  if (typeof value === 'string') return storedText(value);
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return type === 'I' ? BigInt(value) : value;
}

// Opens the database of the audit and the log.

type OpenedFile = Stored<HeldAudit, AuditDatabase>;

export function openAudit({ folder, maxBytes, keepMs, isRead, isSuspect }: OpenAudit): OpenedFile {
  const files = filesOf(folder, 'audit');
  return openStored<HeldAudit, AuditDatabase>(files, {
    lock: 'audit',
    others: 'keeps its audit in this folder',
    isRead,
    create: (path) => {
      expectRoom(folder, 'audit');
      createDatabase(path, tables);
    },
    read: (path) => AuditDatabase.read(path, { isRead, isSuspect }),
    lostSince: 'later entries are lost',
    lost: 'all entries are lost',
    open: () => new AuditDatabase(files.path, maxBytes, keepMs),
  });
}
