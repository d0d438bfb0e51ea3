// The database of the history, `history.db`, as the thread writes it.

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LeftOutRows } from '../../thread/database/left-out-rows.ts';
import {
  checkSmallDatabase,
  createDatabase,
  emptyLog,
  inTransaction,
  openDatabase,
  readDatabase,
} from '../../thread/database/store-database.ts';
import { WrittenFiles } from '../../thread/database/written-files.ts';
import type { Gap } from '../columns.ts';
import type { HistoryRoom } from '../messages.ts';
import { historyTables } from '../tables.ts';
import type { SpanRow } from './spans.ts';

/** Up to where everything is written; see `mark` of the tables. */
export interface Mark {
  readonly seen: number;
  readonly minutes: number;
  readonly hours: number;
}

export type SpanTable = 'minute' | 'hour';

/** How many names of writers are known by heart. */
const knownWriters = 10_000;

export class HistoryDatabase {
  readonly database: DatabaseSync;
  readonly #files: WrittenFiles;
  readonly #mostPages: number;
  readonly #logPages: number;
  readonly #addChange: StatementSync;
  readonly #putSpan: Readonly<Record<SpanTable, StatementSync>>;
  readonly #parameterIds = new Map<string, number>();
  readonly #writerIds = new Map<string, number>();
  /** The keys that rows were given, of parameters since it was opened, of writers while somebody watches. */
  readonly #givenParameters = new Set<number>();
  #givenWriters: Set<number> | undefined;
  /** Rows that cannot be written. */
  readonly leftOut = new LeftOutRows();

  /** Opens a database, which is created when there is none. Errors: those of SQLite and the file system, `DamagedError`; nothing is open then. */
  constructor(path: string, { databaseBytes, logBytes }: HistoryRoom) {
    this.database = openDatabase(path, databaseBytes, logBytes);
    try {
      this.#files = new WrittenFiles(path);
      this.#addChange = this.database.prepare('INSERT OR IGNORE INTO change VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
      const put = (table: SpanTable) =>
        this.database.prepare(`INSERT OR REPLACE INTO ${table} VALUES (?, ?, ?, ?, ?, ?, ?)`);
      this.#putSpan = { minute: put('minute'), hour: put('hour') };
      this.#mostPages = this.#pragma('max_page_count');
      this.#logPages = Math.floor(logBytes / this.#pragma('page_size'));
    } catch (error) {
      this.database.close();
      throw error;
    }
  }

  /** Creates an empty database. Errors: those of SQLite and of the file system. */
  static create(path: string): void {
    createDatabase(path, historyTables);
  }

  /** Looks whether a file is ours, and whole as far as is soon seen. Errors: those of SQLite and of the file system, `DamagedError`. */
  static recognise(path: string, isChecked: boolean): void {
    const database = readDatabase(path);
    try {
      if (isChecked) checkSmallDatabase(database, path);
    } finally {
      database.close();
    }
  }

  /** How many pages one transaction writes at most, so that the log stays within its bound. */
  get transactionPages(): number {
    return Math.floor(this.#logPages / 4);
  }

  /** How many pages there is room for. */
  get freePages(): number {
    return this.#mostPages - this.#pragma('page_count') + this.#pragma('freelist_count');
  }

  get mostPages(): number {
    return this.#mostPages;
  }

  /** Writes as a whole or not at all; once it returns, it is on the disk. Errors: those of SQLite, `DamagedError`. */
  write(work: () => void): void {
    this.#files.expectWhole();
    inTransaction(this.database, work);
  }

  mark(): Mark | undefined {
    return this.database.prepare('SELECT seen, minutes, hours FROM mark').get() as unknown as Mark | undefined;
  }

  setMark({ seen, minutes, hours }: Mark): void {
    this.database
      .prepare('INSERT OR REPLACE INTO mark (rowid, seen, minutes, hours) VALUES (1, ?, ?, ?)')
      .run(seen, minutes, hours);
  }

  addGap({ start, end, lost, reason }: Gap): void {
    this.database.prepare('INSERT INTO gap VALUES (?, ?, ?, ?)').run(start, end, lost, reason);
  }

  /** The columns of `change`. */
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
    try {
      this.#putSpan[table].run(parameter, time, min ?? null, mean ?? null, max ?? null, last ?? null, count);
    } catch (error) {
      this.leftOut.note(`a row of ${table}`, error);
    }
  }

  /** Within a transaction. */
  parameterId(address: string, type: string): number {
    const id = this.#idOf(this.#parameterIds, 'parameter', { address, type });
    this.#givenParameters.add(id);
    return id;
  }

  /** Within a transaction. */
  writerId(kind: string, name: string, file: string): number {
    if (this.#writerIds.size > knownWriters) this.#writerIds.clear();
    const id = this.#idOf(this.#writerIds, 'writer', { kind, name, file });
    this.#givenWriters?.add(id);
    return id;
  }

  /** Watches which keys rows are given from now on, until `watchNothing`. */
  watchNames(): Record<'parameter' | 'writer', ReadonlySet<number>> {
    this.#writerIds.clear();
    this.#givenWriters = new Set();
    return { parameter: this.#givenParameters, writer: this.#givenWriters };
  }

  watchNothing(): void {
    this.#givenWriters = undefined;
  }

  /** A transaction that had named something was rolled back. */
  forgetIds(): void {
    this.#parameterIds.clear();
    this.#writerIds.clear();
  }

  /** Takes what is written out of the log. Returns whether it could: a reader may hold on to it. Errors: those of SQLite. */
  emptyLog(isGivenBack = false): boolean {
    return emptyLog(this.database, isGivenBack);
  }

  close(): void {
    this.database.close();
  }

  #idOf(known: Map<string, number>, table: string, row: Readonly<Record<string, string>>): number {
    const values = Object.values(row);
    const key = values.join('\n');
    let id = known.get(key);
    if (id === undefined) {
      const names = Object.keys(row);
      const where = names.map((name) => `${name} = ?`).join(' AND ');
      const places = names.map(() => '?').join(', ');
      const found = this.database.prepare(`SELECT id FROM ${table} WHERE ${where}`).get(...values) as
        | { id: number }
        | undefined;
      id =
        found?.id ??
        Number(
          this.database.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${places})`).run(...values)
            .lastInsertRowid,
        );
      known.set(key, id);
    }
    return id;
  }

  #pragma(name: string): number {
    return Object.values(this.database.prepare(`PRAGMA ${name}`).get() as Record<string, number>)[0]!;
  }
}
