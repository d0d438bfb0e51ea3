// The database of the audit and the log, `audit.db`. The oldest rows are deleted when they are too old or when the database is too large.
import { dirname } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type LogEntry, type LogLevel, logLevels } from '../../../model/reports/log-entry.ts';
import { type ClockReading, readClocks } from '../../../model/time/age-clock.ts';
import type { Value, ValueType } from '../../../model/value.ts';
import { filesOf } from '../thread/database/files.ts';
import { openStored, type Stored } from '../thread/database/open-stored.ts';
import {
  damagedText,
  dropDamaged,
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
  isSmall,
  openDatabase,
  readDatabase,
  troubleOf,
} from '../thread/database/store-database.ts';
import { WrittenFiles } from '../thread/database/written-files.ts';
import { giveWay } from '../thread/give-way.ts';
import type { AuditBatch, AuditRow, HeldAudit, OpenAudit, Run } from './audit-messages.ts';
import { keptLogEntries, logBytes, readLogEntries, tables } from './audit-tables.ts';
import { areWhole, blockColumns, checksumOf, isWhole } from './entry-blocks.ts';
import { EntryAges } from './find-entries.ts';

/**
 * The interval at which the database deletes rows that are too old, in milliseconds, and the maximum numbers of rows and of blocks that one
 * transaction deletes.
 */
const pruneEveryMs = 60_000;
const prunedRows = 10_000;
const prunedBlocks = 40;
/**
 * Once this share of the database's maximum size is in use, the database deletes its oldest entries, up to `forgottenShare` of all entries.
 */
const fullShare = 0.9;
const forgottenShare = 0.1;

/** The size of a row with its index entry but without its strings, in bytes, and the size of the pages that a batch fills only partly. */
const rowBytes = 64;
const spareBytes = 64 * 1024;

const putEntry = `INSERT INTO entry_row VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET after = excluded.after, count = excluded.count`;
const putBlock = 'INSERT OR REPLACE INTO entry_block VALUES (?, ?, ?, ?, ?, ?, ?)';
const putLog = 'INSERT INTO log VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
const putRun = `INSERT INTO run VALUES (1, ?, ?, ?)
  ON CONFLICT DO UPDATE SET seen = excluded.seen, is_clean = excluded.is_clean, count = excluded.count`;

const numbers: readonly NumberColumns[] = [
  ['entry_row', 'count', 'n'],
  ['entry_row', 'time', 'time'],
  ['entry_block', 'count', 'n', 'last', 'count'],
  ['entry_block', 'time', 'time', 'last_time'],
  ['log', 'count', 'n'],
  ['log', 'time', 'time'],
  ['run', 'time', 'seen'],
  ['age', 'time', 'ran', 'wall'],
  ['age', 'count', 'disordered'],
  ['age_mark', 'time', 'ran'],
  ['age_mark', 'count', 'n'],
];

export class AuditDatabase {
  /** The losses found when the database was opened: one sentence per loss, with the reason. */
  readonly losses: readonly string[];
  readonly #folder: string;
  readonly #files: WrittenFiles;
  readonly #database: DatabaseSync;
  readonly #maxPages: number;
  readonly #putEntry: StatementSync;
  readonly #putBlock: StatementSync;
  readonly #putLog: StatementSync;
  readonly #putRun: StatementSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #ages: EntryAges;
  #prunedAt = Number.NEGATIVE_INFINITY;
  readonly leftOut = new LeftOutRows();

  /** Opens an existing database for writing. Errors: any SQLite error. After an error, nothing remains open. */
  constructor(path: string, maxBytes: number, keepMs: number, now = readClocks(), isSuspect = false) {
    this.#folder = dirname(path);
    this.#database = openDatabase(path, maxBytes, logBytes, 1);
    try {
      this.#files = new WrittenFiles(path);
      let dropped = 0;
      let damaged = 0;
      inTransaction(this.#database, () => {
        if (isTable(this.#database, 'entry')) this.#database.exec('ALTER TABLE entry RENAME TO entry_row'); // the table's earlier name
        this.#database.exec(tables); // an earlier version had fewer tables
        dropped = dropOutOfRange(this.#database, numbers);
        if (isSuspect || isSmall(path))
          damaged = dropDamaged(this.#database, 'entry_block', ['n'], blockColumns, areWhole, isWhole);
      });
      this.losses = [...droppedText(path, dropped), ...damagedText(path, damaged, 'entries')];
      this.#ages = new EntryAges(this.#database, keepMs, now);
      this.#maxPages = this.#number('PRAGMA max_page_count');
      this.#putEntry = this.#database.prepare(putEntry);
      this.#putBlock = this.#database.prepare(putBlock);
      this.#putLog = this.#database.prepare(putLog);
      this.#putRun = this.#database.prepare(putRun);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Reads the data that the hub needs at its start, without changing the database. Errors: any SQLite error, `DamagedError`. */
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
      const entries = isTable(database, 'entry_block') ? [last('entry_row'), lastOfBlocks(database)] : [last('entry')];
      return { lastEntry: Math.max(...entries), lastLog: last('log'), run, log };
    } finally {
      database.close();
    }
  }

  /**
   * Writes a batch in one transaction and omits rows that the database refuses. When `write` returns, the batch is on disk. Errors: any
   * SQLite error, `DamagedError`.
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

  /** Returns the time of the oldest entry, in milliseconds since 1970; undefined if there is none. */
  oldest(): number | undefined {
    const first = (table: string) => `SELECT * FROM (SELECT n, time FROM ${table} ORDER BY n LIMIT 1)`;
    const select = `${first('entry_row')} UNION ALL ${first('entry_block')} ORDER BY n LIMIT 1`;
    return (this.#statement(select).get() as { time: number } | undefined)?.time;
  }

  /** Empties the write-ahead log and frees its disk space, which the values may need. Errors: any SQLite error. */
  emptyLog(): void {
    emptyLog(this.#database, true);
  }

  close(): void {
    this.#database.close();
  }

  #put({ rows, blocks = [], log, run }: AuditBatch, now: ClockReading): void {
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
      for (const { n, last, time, lastTime, count, entries } of blocks) {
        const { buffer, byteOffset, byteLength } = entries;
        const text = Buffer.from(buffer, byteOffset, byteLength).toString();
        this.#putBlock.run(n, last, time, lastTime, count, checksumOf(n, time, count, entries), text);
      }
      for (const { n, time, level, connection = null, rule = null, message } of log)
        try {
          this.#putLog.run(BigInt(n), BigInt(Math.trunc(time)), level, connection, rule, message);
        } catch (error) {
          this.leftOut.note('an entry of the log', error);
        }
      this.#putRun.run(BigInt(Math.trunc(run.seen)), run.isClean ? 1n : 0n, run.count);
      this.#ages.note(rows, blocks, now);
    });
  }

  #putRow({ n, time, kind, user, address, type, before, after, count, cause }: AuditRow): void {
    const [old, now] = [stored(type, before), stored(type, after)];
    this.#putEntry.run(BigInt(n), BigInt(Math.trunc(time)), kind, user, address, type, old, now, BigInt(count), cause);
  }

  /** Deletes rows that are too old or in excess, a limited number at a time. */
  #prune(): void {
    if (this.#isLarge()) this.#forgetOldest();
    const now = this.#ages.ran;
    if (now - this.#prunedAt < pruneEveryMs) return;
    const old = 'SELECT n FROM entry_row WHERE n <= ? ORDER BY n LIMIT ?';
    const oldBlocks = 'SELECT n FROM entry_block WHERE last <= ? ORDER BY n LIMIT ?';
    const many = 'SELECT n FROM log ORDER BY n DESC LIMIT 1 OFFSET ?';
    let pruned = 0;
    inTransaction(this.#database, () => {
      const last = BigInt(this.#ages.takeTooOld());
      pruned = Number(this.#run(`DELETE FROM entry_row WHERE n IN (${old})`, last, BigInt(prunedRows)));
      const blocks = this.#run(`DELETE FROM entry_block WHERE n IN (${oldBlocks})`, last, BigInt(prunedBlocks));
      if (Number(blocks) === prunedBlocks) pruned = prunedRows;
      this.#run(`DELETE FROM log WHERE n <= (${many})`, BigInt(keptLogEntries));
    });
    if (pruned < prunedRows) this.#prunedAt = now;
  }

  #isLarge(): boolean {
    const used = this.#number('PRAGMA page_count') - this.#number('PRAGMA freelist_count');
    return used > this.#maxPages * fullShare;
  }

  #forgetOldest(): void {
    const all = this.#number('SELECT count(*) FROM entry_row') + this.#number(blockEntries);
    const forgotten = Math.min(prunedRows, Math.floor(all * forgottenShare));
    const { last } = (this.#statement(lastOfOldest).get(forgotten) ?? { last: 0 }) as { last: number };
    const many = `SELECT n FROM log ORDER BY n LIMIT 1 OFFSET min(${prunedRows}, (SELECT count(*) FROM log) * ${forgottenShare})`;
    inTransaction(this.#database, () => {
      this.#run('DELETE FROM entry_row WHERE n <= ?', BigInt(last));
      this.#run('DELETE FROM entry_block WHERE last <= ?', BigInt(last));
      this.#run(`DELETE FROM log WHERE n <= (${many})`);
    });
  }

  #run(sql: string, ...values: bigint[]): number | bigint {
    return this.#statement(sql).run(...values).changes;
  }

  #number(sql: string): number {
    return Object.values(this.#statement(sql).get() as Record<string, number>)[0]!;
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

const blockEntries = 'SELECT coalesce(sum(count), 0) FROM entry_block';
/**
 * Selects the number of the last entry to delete, so that more than the given number of entries is deleted. A block counts by the number of
 * its last entry.
 */
const lastOfOldest = `
  SELECT last FROM (
    SELECT last, sum(count) OVER (ORDER BY last) AS counted FROM (
      SELECT * FROM (SELECT n AS last, 1 AS count FROM entry_row ORDER BY n LIMIT ${prunedRows + 1})
      UNION ALL SELECT * FROM (SELECT last, count FROM entry_block ORDER BY n LIMIT ${prunedRows + 1})
    )
  ) WHERE counted > ? ORDER BY last LIMIT 1`;

/** The size of a number or a boolean in a row, in bytes, at most. */
const numberBytes = 9;

/** Returns the approximate size of a batch in the write-ahead log, in bytes. */
function bytesOf({ rows, blocks = [], log }: AuditBatch): number {
  const lengthOf = (value: unknown) => (typeof value === 'string' ? value.length : numberBytes);
  let bytes = spareBytes;
  for (const { user, address, before, after, cause } of rows)
    bytes += user.length + address.length + lengthOf(before) + lengthOf(after) + cause.length + rowBytes;
  for (const { entries } of blocks) bytes += entries.length + rowBytes;
  for (const { message } of log) bytes += message.length + rowBytes;
  return bytes;
}

function isTable(database: DatabaseSync, name: string): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined;
}

/** Returns the highest number of an entry in a block; 0 if there are no blocks. */
function lastOfBlocks(database: DatabaseSync): number {
  const select = `SELECT coalesce(max(last), 0) AS n FROM entry_block WHERE ${areWhole}`;
  return (database.prepare(select).get() as { n: number }).n;
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

/**
 * Returns a value in the form in which SQLite stores it. Integers and booleans become bigints, because SQLite would store a JavaScript
 * number as a float.
 */
function stored(type: ValueType | '', value: Value | undefined): string | Uint8Array | number | bigint | null {
  if (value === undefined) return null;
  if (typeof value === 'string') return storedText(value);
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return type === 'I' ? BigInt(value) : value;
}

// Opens the database for the audit and the log.

type OpenedFile = Stored<HeldAudit, AuditDatabase>;

export function openAudit({ folder, maxBytes, keepMs, isRead, isSuspect }: OpenAudit): OpenedFile {
  const files = filesOf(folder, 'audit');
  return openStored<HeldAudit, AuditDatabase>(files, {
    lock: 'audit',
    others: 'stores its audit in this folder',
    isRead,
    create: (path) => {
      expectRoom(folder, 'audit');
      createDatabase(path, tables);
    },
    read: (path) => AuditDatabase.read(path, { isRead, isSuspect }),
    lostSince: 'later entries are lost',
    lost: 'all entries are lost',
    open: () => new AuditDatabase(files.path, maxBytes, keepMs, readClocks(), isSuspect),
  });
}
