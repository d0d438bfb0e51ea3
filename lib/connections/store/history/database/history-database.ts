// The history database, `history.db`, for writing.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { readClocks } from '../../../../model/time/age-clock.ts';
import type { Rename } from '../../../persistence.ts';
import {
  damagedText,
  dropDamaged,
  dropOutOfRange,
  droppedText,
  LeftOutRows,
  type NumberColumns,
} from '../../thread/database/read-rows.ts';
import {
  checkSmallDatabase,
  createDatabase,
  emptyLog,
  inTransaction,
  isSmall,
  openDatabase,
  readDatabase,
} from '../../thread/database/store-database.ts';
import { WrittenFiles } from '../../thread/database/written-files.ts';
import {
  areWhole,
  blockColumns,
  isWhole,
  noBlock,
  type Packing,
  type Place,
  type StoredBlock,
  unpackBlock,
} from '../blocks.ts';
import type { Gap } from '../columns.ts';
import type { AbsenceRow, HistoryRoom } from '../history-messages.ts';
import { historyTables, hourMs, laterTables, minuteMs, splitChanges } from '../history-tables.ts';
import type { RecordedJump } from '../segments.ts';
import { HourAges } from './hour-ages.ts';
import type { SpanPart, SpanRow } from './spans.ts';

/** The progress of the recording: a row of the table `mark`. */
export interface Mark {
  readonly seen: number;
  readonly minutes: number;
  readonly hours: number;
}

export type SpanTable = 'minute' | 'hour';

/** The last recorded run of the hub, the base that is added to its revisions, and the highest number of a change. */
export interface RecordedRun {
  readonly epoch: string;
  readonly base: number;
  readonly last: number;
}

/** A number greater than all revisions from an earlier version of the database, whose order is unknown. */
const baseOfEarlier = 1e12;
/** The maximum number of clock jumps, counting back from the newest, that the database keeps. */
const keptJumps = 1000;

/** The number of writers at which the cache of their keys is cleared. */
const knownWriters = 10_000;

/** The SQL that restores a deleted mark from the last hour that contains changes. */
const markAnew = `INSERT INTO mark (rowid, seen, minutes, hours)
  SELECT 1, (hour + 1) * ${hourMs}, hour * ${hourMs}, hour * ${hourMs} FROM (
    SELECT max(hour) AS hour FROM (SELECT max(hour) AS hour FROM change_row UNION ALL SELECT max(hour) FROM change_block))
  WHERE hour IS NOT NULL AND NOT EXISTS (SELECT 1 FROM mark)`;

/** The columns whose numbers are checked. For changes, only the hours are checked, because there are too many changes to check each one. */
const numbers: readonly NumberColumns[] = [
  ['parameter', 'count', 'id'],
  ['writer', 'count', 'id'],
  ['change_row', 'hour', 'hour'],
  ['change_block', 'hour', 'hour'],
  ['minute', 'count', 'parameter'],
  ['hour', 'count', 'parameter'],
  ['gap', 'time', 'start', 'end'],
  ['gap', 'count', 'lost'],
  ['mark', 'time', 'seen', 'minutes', 'hours'],
  ['jump', 'count', 'n', 'sequence', 'gap', 'start'],
  ['jump', 'time', 'before', 'after'],
  ['run', 'count', 'base', 'last'],
  ['age', 'time', 'ran', 'wall'],
  ['absence', 'time', 'start', 'end'],
  ['absence', 'count', 'sequence'],
  ['hour_age', 'hour', 'hour'],
  ['hour_age', 'time', 'ran'],
];

export class HistoryDatabase {
  readonly database: DatabaseSync;
  /** The losses found when the database was opened: one sentence per loss, with the reason. */
  readonly losses: readonly string[];
  readonly #files: WrittenFiles;
  readonly #mostPages: number;
  readonly #logPages: number;
  readonly #addChange: StatementSync;
  readonly #addBlock: StatementSync;
  readonly #blockBefore: StatementSync;
  readonly #setRun: StatementSync;
  readonly #setMark: StatementSync;
  readonly #nextHour: StatementSync;
  readonly #putSpan: Readonly<Record<SpanTable, StatementSync>>;
  readonly #addToSpan: Readonly<Record<SpanTable, StatementSync>>;
  readonly #parameterKeys: Keys;
  readonly #writerKeys: Keys;
  readonly ages: HourAges;
  readonly #writerIds = new Map<string, number>();
  /** The end of each parameter's newest block, in the hour for which it was last requested. */
  readonly #blockEnds = new Map<number, { readonly hour: number; readonly end: Place }>();
  /** The database keys that are in use: of parameters since the database was opened, of writers since `watchNames` was called. */
  readonly #givenParameters = new Set<number>();
  #givenWriters: Set<number> | undefined;
  /** The rows that the database refused. */
  readonly leftOut = new LeftOutRows();

  /**
   * Opens an existing database for writing. Errors: any SQLite or file system error, `DamagedError`. After an error, nothing remains open.
   */
  constructor(path: string, { databaseBytes, logBytes }: HistoryRoom, now = readClocks()) {
    this.database = openDatabase(path, databaseBytes, logBytes);
    try {
      this.#files = new WrittenFiles(path);
      if (isTable(this.database, 'change')) inTransaction(this.database, () => this.database.exec(splitChanges));
      this.database.exec(laterTables);
      const dropped = droppedText(path, dropOutOfRange(this.database, numbers));
      this.losses = isSmall(path) ? [...dropped, ...dropDamagedBlocks(this.database, path)] : dropped;
      this.database.exec(markAnew);
      this.ages = new HourAges(this.database, this.mark()?.seen ?? 0, now);
      this.#addChange = this.database.prepare('INSERT OR IGNORE INTO change_row VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
      this.#addBlock = this.database.prepare('INSERT INTO change_block VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
      this.#blockBefore = this.database.prepare(blockBefore);
      this.#setRun = this.database.prepare('INSERT OR REPLACE INTO run VALUES (1, ?, ?, ?)');
      this.#setMark = this.database.prepare(
        'INSERT OR REPLACE INTO mark (rowid, seen, minutes, hours) VALUES (1, ?, ?, ?)',
      );
      this.#nextHour = this.database.prepare(nextHour);
      const put = (table: SpanTable) =>
        this.database.prepare(`INSERT OR REPLACE INTO ${table} VALUES (?, ?, ?, ?, ?, ?, ?)`);
      this.#putSpan = { minute: put('minute'), hour: put('hour') };
      this.#addToSpan = {
        minute: this.database.prepare(addToSpan('minute', minuteMs)),
        hour: this.database.prepare(addToSpan('hour', hourMs)),
      };
      this.#parameterKeys = new Keys(this.database, 'parameter', ['address', 'type']);
      this.#writerKeys = new Keys(this.database, 'writer', ['kind', 'name', 'file']);
      this.#mostPages = this.#pragma('max_page_count');
      this.#logPages = Math.floor(logBytes / this.#pragma('page_size'));
    } catch (error) {
      this.database.close();
      throw error;
    }
  }

  /** Creates an empty database. Errors: any SQLite or file system error. */
  static create(path: string): void {
    createDatabase(path, historyTables);
  }

  /**
   * Checks that a file is a history database; with `isChecked`, also checks a small database for damage. Errors: any SQLite or file system
   * error, `DamagedError`.
   */
  static recognize(path: string, isChecked: boolean): void {
    const database = readDatabase(path);
    try {
      if (isChecked) checkSmallDatabase(database, path);
    } finally {
      database.close();
    }
  }

  /** The maximum number of pages in one transaction, with which the write-ahead log stays within its maximum size. */
  get transactionPages(): number {
    return Math.floor(this.#logPages / 4);
  }

  /** The number of pages that the database may still use. */
  get freePages(): number {
    return this.#mostPages - this.#pragma('page_count') + this.#pragma('freelist_count');
  }

  get mostPages(): number {
    return this.#mostPages;
  }

  /** Runs `work` in a transaction. When `write` returns, the changes are on disk. Errors: any SQLite error, `DamagedError`. */
  write(work: () => void): void {
    this.#files.expectWhole();
    try {
      inTransaction(this.database, () => {
        work();
        this.ages.note();
      });
    } catch (error) {
      this.ages.forget();
      throw error;
    }
  }

  /** Returns the last recorded run. For a database from an earlier version, the epoch of the run is unknown and therefore empty. */
  run(): RecordedRun {
    const known = this.database.prepare('SELECT epoch, base, last FROM run').get() as RecordedRun | undefined;
    const last = this.mark() === undefined ? 0 : baseOfEarlier;
    return known ?? { epoch: '', base: last, last };
  }

  setRun({ epoch, base, last }: RecordedRun): void {
    this.#setRun.run(epoch, BigInt(base), BigInt(last));
  }

  /** Returns the clock jumps in the order in which they were recorded. */
  jumps(): RecordedJump[] {
    return this.database
      .prepare('SELECT sequence, before, after, gap, start FROM jump ORDER BY n')
      .all() as unknown[] as RecordedJump[];
  }

  addJump({ sequence, before, after, start }: Omit<RecordedJump, 'gap'>): void {
    const gap = 'SELECT coalesce(max(rowid), 0) FROM gap';
    this.database
      .prepare(`INSERT INTO jump (sequence, before, after, gap, start) VALUES (?, ?, ?, (${gap}), ?)`)
      .run(BigInt(sequence), BigInt(Math.floor(before)), BigInt(Math.floor(after)), start);
    this.database.prepare('DELETE FROM jump WHERE n <= (SELECT max(n) FROM jump) - ?').run(keptJumps);
  }

  mark(): Mark | undefined {
    return this.database.prepare('SELECT seen, minutes, hours FROM mark').get() as Mark | undefined;
  }

  setMark({ seen, minutes, hours }: Mark): void {
    this.#setMark.run(seen, minutes, hours);
  }

  addGap({ start, end, lost, reason }: Gap): void {
    this.database.prepare('INSERT INTO gap VALUES (?, ?, ?, ?)').run(start, end, lost, reason);
  }

  /** Adds an absence, or sets the end of a known absence. `sequence` is the number of the change at the start of the absence. */
  addAbsence({ connection, start, end = 0, reason }: AbsenceRow, sequence: number): void {
    this.database
      .prepare(
        `INSERT INTO absence (connection, start, end, reason, sequence) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET end = excluded.end`,
      )
      .run(connection, BigInt(Math.floor(start)), BigInt(Math.floor(end)), reason, BigInt(sequence));
  }

  /** Sets the end of all absences that an earlier run left open. */
  endAbsences(time: number): void {
    this.database.prepare('UPDATE absence SET end = max(start, ?) WHERE end = 0').run(time);
  }

  /** Returns the first hour after `hour` that contains changes; undefined if there is none. */
  hourAfter(hour: number): number | undefined {
    return (this.#nextHour.get(hour) as { hour: number | null }).hour ?? undefined;
  }

  /**
   * Returns the position of the last change in a parameter's newest block within an hour. The next block must start after this position.
   */
  endOfBlocks(hour: number, parameter: number): Place {
    const known = this.#blockEnds.get(parameter);
    if (known?.hour === hour) return known.end;
    const row = this.#blockBefore.get(hour, parameter, Number.MAX_SAFE_INTEGER, 0) as BlockEnd | undefined;
    const end = row === undefined ? noBlock : { time: row.last_time, revision: row.last_revision };
    this.#blockEnds.set(parameter, { hour, end });
    return end;
  }

  /** Returns whether a block contains the change at a position. */
  isInBlock(hour: number, parameter: number, { time, revision }: Place): boolean {
    const row = this.#blockBefore.get(hour, parameter, time, revision) as BlockEnd | undefined;
    if (row === undefined) return false;
    const stored = blockColumns.split(', ').map((column) => row[column as keyof BlockEnd]);
    return unpackBlock(stored as unknown as StoredBlock).some((one) => one[0] === time && one[2] === revision);
  }

  /** Adds a block, which must follow all other blocks of the parameter in the same hour. */
  addBlock(hour: number, parameter: number, block: Packing): void {
    const { time, revision, lastTime, lastRevision, count, writer, source, cause, json, checksum } = block;
    this.ages.wrote(hour);
    this.#addBlock.run(
      hour,
      parameter,
      time,
      revision,
      lastTime,
      lastRevision,
      count,
      writer,
      source,
      cause === 0 ? null : cause,
      json,
      checksum,
    );
    this.#blockEnds.set(parameter, { hour, end: { time: lastTime, revision: lastRevision } });
  }

  /** Adds a change as a row of `change_row`. */
  addChange(
    hour: number,
    parameter: number,
    time: number,
    revision: number,
    value: string | Uint8Array | number | bigint,
    writer: number,
    source: number,
    causeParameter: number | null,
    causeTime: number | null,
    causeRevision: number | null,
  ): void {
    this.ages.wrote(hour);
    this.#addChange.run(
      hour,
      parameter,
      time,
      revision,
      value,
      writer,
      source,
      causeParameter,
      causeTime,
      causeRevision,
    );
  }

  putSpan(table: SpanTable, { parameter, time, min, mean, max, last, count }: SpanRow): void {
    this.ages.wrote(Math.floor(time / hourMs));
    try {
      this.#putSpan[table].run(parameter, time, min ?? null, mean ?? null, max ?? null, last ?? null, count);
    } catch (error) {
      this.leftOut.note(`a row of ${table}`, error);
    }
  }

  /**
   * Adds part of a minute or hour. If the span already has a row, from an earlier part or from before the clock was set back, the part is
   * merged into this row.
   */
  addToSpan(table: SpanTable, { parameter, time, min, mean, max, last, count }: SpanRow, part: SpanPart): void {
    this.ages.wrote(Math.floor(time / hourMs));
    const figures = [min, mean, max, last].map((figure) => figure ?? null);
    this.#addToSpan[table].run(parameter, time, ...figures, count, part.knownMs, part.isWhole ? 1 : 0);
  }

  /** Returns the key of a parameter, and adds the parameter if necessary. Call this within a transaction. */
  parameterId(address: string, type: string): number {
    const id = this.#parameterKeys.keyOf(address, type);
    this.#givenParameters.add(id);
    return id;
  }

  /**
   * Lets the series of a parameter continue under another address, unless that address already has a series of the same type. Call this
   * within a transaction.
   */
  rename({ from, to }: Rename): void {
    this.database.prepare('UPDATE OR IGNORE parameter SET address = ? WHERE address = ?').run(to, from);
  }

  /** Returns the key of a writer, and adds the writer if necessary. Call this within a transaction. */
  writerId(kind: string, name: string, file: string): number {
    if (this.#writerIds.size > knownWriters) this.#writerIds.clear();
    const key = `${kind}\n${name}\n${file}`;
    const id = this.#writerIds.get(key) ?? this.#writerKeys.keyOf(kind, name, file);
    this.#writerIds.set(key, id);
    this.#givenWriters?.add(id);
    return id;
  }

  /** Returns the sets of keys in use. Until `watchNothing` is called, the keys of writers are added as well. */
  watchNames(): Record<'parameter' | 'writer', ReadonlySet<number>> {
    this.#writerIds.clear();
    this.#givenWriters = new Set();
    return { parameter: this.#givenParameters, writer: this.#givenWriters };
  }

  watchNothing(): void {
    this.#givenWriters = undefined;
  }

  /** Clears the cached keys and block ends, because a rollback may have undone them. */
  forgetIds(): void {
    this.#writerIds.clear();
    this.#blockEnds.clear();
  }

  /** Empties the write-ahead log. Returns false while a reader is still using the log. Errors: any SQLite error. */
  emptyLog(isGivenBack = false): boolean {
    return emptyLog(this.database, isGivenBack);
  }

  close(): void {
    this.database.close();
  }

  #pragma(name: string): number {
    return Object.values(this.database.prepare(`PRAGMA ${name}`).get() as Record<string, number>)[0]!;
  }
}

/** The keys of the rows in a table of names. */
class Keys {
  readonly #find: StatementSync;
  readonly #add: StatementSync;

  constructor(database: DatabaseSync, table: 'parameter' | 'writer', columns: readonly string[]) {
    this.#find = database.prepare(`SELECT id FROM ${table} WHERE ${columns.map((one) => `${one} = ?`).join(' AND ')}`);
    this.#add = database.prepare(
      `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    );
  }

  /** Returns the key of a row, and adds the row if necessary. */
  keyOf(...row: readonly string[]): number {
    const found = this.#find.get(...row) as { id: number } | undefined;
    return found?.id ?? Number(this.#add.run(...row).lastInsertRowid);
  }
}

const nextHour = `SELECT min(hour) AS hour FROM (
  SELECT min(hour) AS hour FROM change_row WHERE hour > ?1 UNION ALL SELECT min(hour) FROM change_block WHERE hour > ?1)`;

/** The position at which a block ends, as the columns of its row. */
type BlockEnd = Readonly<Record<'last_time' | 'last_revision', number>>;

const blockBefore = `SELECT last_time, last_revision, ${blockColumns} FROM change_block
  WHERE hour = ? AND parameter = ? AND (time, revision) <= (?, ?) AND ${areWhole}
  ORDER BY time DESC, revision DESC LIMIT 1`;

/** Deletes damaged blocks; returns a sentence about the losses, if any. Errors: any SQLite error. */
export function dropDamagedBlocks(database: DatabaseSync, path: string): string[] {
  const keys = ['hour', 'parameter', 'time', 'revision'];
  let damaged = 0;
  inTransaction(database, () => {
    damaged = dropDamaged(database, 'change_block', keys, blockColumns, areWhole, isWhole);
  });
  return damagedText(path, damaged, 'changes');
}

function isTable(database: DatabaseSync, name: string): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined;
}

/**
 * Returns the SQL that merges part of a span into its row. The mean weights the row and the part by their durations. The last value comes
 * from the part that reaches the end of the span.
 */
function addToSpan(table: SpanTable, lengthMs: number): string {
  const both = (combine: string, column: string) =>
    `${combine}(coalesce(${column}, excluded.${column}), coalesce(excluded.${column}, ${column}))`;
  const known = `min(?8, ${lengthMs})`;
  return `INSERT INTO ${table} VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE SET
    min = ${both('min', 'min')}, max = ${both('max', 'max')}, count = count + excluded.count,
    mean = CASE WHEN mean IS NULL OR excluded.mean IS NULL THEN coalesce(mean, excluded.mean)
      ELSE (mean * (${lengthMs} - ${known}) + excluded.mean * ${known}) / ${lengthMs} END,
    last = CASE WHEN ?9 = 1 THEN excluded.last ELSE last END`;
}
