// The history database as seen by readers: `history.db`, opened read-only, with all queries.

import { DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { type Origin, originKinds } from '../../../model/parameter.ts';
import { isTime } from '../../../model/time/iso-time.ts';
import { type Value, type ValueType, valueTypes } from '../../../model/value.ts';
import type { EventPlace } from '../../persistence.ts';
import {
  areWhole,
  blockColumns,
  type EventRow,
  isWhole,
  type Place,
  type Stored,
  type StoredBlock,
  unpackBlock,
} from '../history/blocks.ts';
import { historyTables, hourMs } from '../history/history-tables.ts';
import type { RecordedJump } from '../history/segments.ts';
import { exists } from '../thread/database/files.ts';
import { isWithin, readRows, readStored } from '../thread/database/read-rows.ts';
import { DamagedError, OpenFile, readDatabase } from '../thread/database/store-database.ts';
import type { RecordedAbsence, RecordedGap } from './histories/gaps.ts';

/** A parameter that has a history, with its key in the database. */
export interface Series {
  readonly id: number;
  readonly address: string;
  readonly type: ValueType;
}

/**
 * A row of `minute` or `hour`. For strings and triggers, only the time and the count are set. `last` is null if the value was unknown at
 * the end.
 */
export type Span = readonly [time: number, min: number, mean: number, max: number, last: number | null, count: number];

export type ChangeRow = readonly [time: number, value: Stored, revision: number];

/**
 * The progress of the recording. Everything before `seen` has been recorded. The rows for all spans that began before `minutes` and `hours`
 * have been written.
 */
export interface Mark {
  readonly seen: number;
  readonly minutes: number;
  readonly hours: number;
}

type SpanTable = 'minute' | 'hour';

/** A range of revisions: from `first`, up to but not including `last`. */
export interface Numbers {
  readonly first: number;
  readonly last: number;
}

export const allNumbers: Numbers = { first: Number.NEGATIVE_INFINITY, last: Number.POSITIVE_INFINITY };

/** The maximum number of gaps, counting back from the newest, that are read. */
const maxGaps = 1000;

export class PastDatabase {
  readonly #path: string;
  /** The open file; undefined if there is no file, because nothing has been recorded. */
  readonly #file: OpenFile | undefined;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** The table of changes in separate rows. In a database from an earlier version, this table contains all changes. */
  #rows: string;
  /** The function to which `emitSpans` passes spans. */
  #take: (span: Span) => void = () => {};

  /**
   * Opens the history database read-only. Errors: any SQLite or file system error, `DamagedError`. After an error, nothing remains open.
   */
  constructor(path: string) {
    this.#path = path;
    const isThere = exists(path); // checked only once, because another thread may create the file in the meantime
    this.#database = isThere ? readDatabase(path) : emptyDatabase();
    try {
      this.#file = isThere ? new OpenFile(path) : undefined;
      this.#rows = this.#rowsTable();
      this.#database.function('emit_span', (time, min, mean, max, last, count) => {
        this.#take([time, min, mean, max, last, count] as SQLOutputValue[] & Span);
        return null;
      });
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Whether the file at the path is still the open file. */
  get isInPlace(): boolean {
    return this.#file === undefined ? !exists(this.#path) : this.#file.isInPlace;
  }

  /** Runs `work` in a transaction, so that all reads see the same state. Errors: any SQLite error, and any error from `work`. */
  read<T>(work: () => T): T {
    this.#database.exec('BEGIN');
    try {
      if (!this.#hasBlocks) this.#rows = this.#rowsTable(); // a writer may have converted the file in the meantime
      return work();
    } finally {
      this.#database.exec('ROLLBACK');
    }
  }

  close(): void {
    this.#database.close();
  }

  mark(): Mark {
    const [row] = this.#all<[number, number, number]>('SELECT seen, minutes, hours FROM mark');
    const [seen, minutes, hours] = row ?? [0, 0, 0];
    return { seen, minutes, hours };
  }

  /** Returns the series of a parameter; undefined if it has no history. Without a type, returns the series with the newest type. */
  find(address: string, type: ValueType | undefined): Series | undefined {
    const rows = this.#all<[number, ValueType]>(
      'SELECT id, type FROM parameter WHERE address = ? ORDER BY id DESC',
      address,
    );
    const known = rows.filter(([, one]) => valueTypes.includes(one));
    const row = type === undefined ? known[0] : known.find(([, one]) => one === type);
    return row && { id: row[0], address, type: row[1] };
  }

  addresses(): string[] {
    return this.#all<[string]>('SELECT DISTINCT address FROM parameter').map(([address]) => address);
  }

  /** Returns the newest gaps, at most `maxGaps`, oldest first. */
  gaps(): RecordedGap[] {
    const select = 'SELECT start, end, lost, reason, rowid FROM gap ORDER BY rowid DESC LIMIT ?';
    return this.#all<[number, number, number, string, number]>(select, maxGaps)
      .map(([from, to, lost, reason, row]) => ({ from, to, lost, reason, row }))
      .filter(({ from, to }) => from <= to && isTime(from) && isTime(to)) // an earlier version wrote invalid gaps
      .reverse();
  }

  /** Returns the newest absences of a connection, at most `maxGaps`, oldest first; `to` is 0 for an ongoing absence. */
  absences(connection: string): RecordedAbsence[] {
    if (!this.#hasTable('absence')) return []; // an earlier version recorded no absences
    const select =
      'SELECT start, end, reason, sequence FROM absence WHERE connection = ? ORDER BY start DESC, rowid DESC LIMIT ?';
    return this.#all<[number, number, string, number]>(select, connection, maxGaps)
      .map(([from, to, reason, sequence]) => ({ from, to, lost: 0, reason, sequence }))
      .filter(({ from, to }) => isTime(from) && isTime(to))
      .reverse();
  }

  /** Returns the clock jumps, in the order in which they happened. */
  jumps(): RecordedJump[] {
    if (!this.#hasTable('jump')) return []; // an earlier version recorded no jumps
    const select = 'SELECT sequence, before, after, gap, start FROM jump ORDER BY n';
    return this.#all<[number, number, number, number, 0 | 1]>(select)
      .map(([sequence, before, after, gap, start]) => ({ sequence, before, after, gap, start }))
      .filter(({ before, after }) => isTime(before) && isTime(after));
  }

  /** Returns the minutes or hours that begin within a range, oldest first. */
  spans(table: SpanTable, { id }: Series, from: number, to: number): Span[] {
    if (from >= to) return [];
    const columns = 'time, min, mean, max, last, count';
    return this.#all(`SELECT ${columns} FROM ${table} WHERE ${spanIn}`, id, from, to);
  }

  /**
   * Calls `take` with each minute or hour that begins within a range, oldest first, which is a third faster than returning a list. Errors:
   * any SQLite error, and any error from `take`.
   */
  emitSpans(table: SpanTable, { id }: Series, from: number, to: number, take: (span: Span) => void): void {
    if (from >= to) return;
    const outer = this.#take;
    this.#take = take;
    try {
      const counted = 'count(emit_span(time, min, mean, max, last, count))';
      this.#all(`SELECT ${counted} FROM ${table} WHERE ${spanIn}`, id, from, to);
    } finally {
      this.#take = outer;
    }
  }

  /** Returns the first or the last minute or hour that begins within a range; undefined if there is none. */
  span(table: SpanTable, which: 'first' | 'last', { id }: Series, from: number, to: number): Span | undefined {
    const select = `SELECT time, min, mean, max, last, count FROM ${table} WHERE ${spanIn}`;
    return this.#all<Span>(`${select} ORDER BY time ${orderOf(which)} LIMIT 1`, id, from, to)[0];
  }

  /** Returns the starts of the hours that overlap a range and still contain changes of a parameter: at most `limit` hours, oldest first. */
  changedHours({ id }: Series, from: number, to: number, limit = -1): number[] {
    const tables = this.#hasBlocks ? ['change_row', 'change_block'] : ['change'];
    const ofAll = (which: 'min' | 'max', where = '') => {
      const ofEach = tables.map((table) => `SELECT ${which}(hour) AS hour FROM ${table} ${where}`);
      return `(SELECT ${which}(hour) FROM (${ofEach.join(' UNION ALL ')}))`;
    };
    const [[oldest, newest] = [null, null]] = this.#all<[number | null, number | null]>(
      `SELECT ${ofAll('min')}, ${ofAll('max')}`,
    );
    if (oldest === null || newest === null) return [];
    const first = Math.max(oldest, Math.floor(from / hourMs));
    const last = Math.min(newest, Math.ceil(to / hourMs) - 1);
    if (!(first <= last)) return [];
    const isIn = tables.map((table) => `EXISTS (SELECT 1 FROM ${table} WHERE hour = n AND parameter = ?3)`);
    // Iterates only over existing hours, because a clock change can leave an hour far away from all other hours.
    const select = `WITH RECURSIVE hours (n) AS (
      SELECT ${ofAll('min', 'WHERE hour >= ?1')} UNION ALL SELECT ${ofAll('min', 'WHERE hour > n')} FROM hours WHERE n < ?2
    ) SELECT n FROM hours WHERE n <= ?2 AND (${isIn.join(' OR ')}) LIMIT ?4`;
    return this.#all<[number]>(select, first, last, id, limit).map(([hour]) => hour * hourMs);
  }

  /** Returns the first or the last `limit` changes within a range and within one hour, oldest first. */
  changes(
    series: Series,
    hour: number,
    from: number,
    to: number,
    which: 'first' | 'last',
    limit: number,
    numbers = allNumbers,
  ): ChangeRow[] {
    const order = orderOf(which);
    const where = `hour = ? AND parameter = ? AND time >= ? AND time < ?${numbered(numbers)}`;
    const select = `SELECT time, value, revision FROM ${this.#rows} WHERE ${where} ORDER BY time ${order}, revision ${order} LIMIT ?`;
    const { first, last } = numbers;
    const bounds = numbers === allNumbers ? [] : [finite(first), finite(last)];
    const found = this.#all<ChangeRow>(select, Math.floor(hour / hourMs), series.id, from, to, ...bounds, limit);
    const isOurs = ([time, value]: ChangeRow) => isTime(time) && isStored(series.type, value);
    const rows: ChangeRow[] = found.every(isOurs) ? found : found.filter(isOurs);
    const before = { time: to, revision: Number.MIN_SAFE_INTEGER };
    const packed = this.#inBlocks(series, hour, from, before, which, limit, numbers).map(
      ([time, value, revision]): ChangeRow => [time, value, revision],
    );
    return which === 'first' ? merge(rows, packed, 1, limit) : merge(rows, packed, -1, limit).reverse();
  }

  /** Returns the newest changes in one hour, from the time `from` on and before a position, newest first, with their writers and causes. */
  events(
    series: Series,
    hour: number,
    from: number,
    before: EventPlace,
    limit: number,
    numbers = allNumbers,
  ): EventRow[] {
    const { id, type } = series;
    const columns = 'time, value, revision, writer, source, cause_parameter, cause_time, cause_revision';
    const where = `hour = ? AND parameter = ? AND time >= ? AND (time, revision) < (?, ?) AND ${isWithin('time', 'time')}${numbered(numbers)}${typed[type]}`;
    const select = `SELECT ${columns} FROM ${this.#rows} WHERE ${where} ORDER BY time DESC, revision DESC LIMIT ?`;
    const { time, revision } = before;
    const bounds = numbers === allNumbers ? [] : [finite(numbers.first), finite(numbers.last)];
    const rows = this.#all<EventRow>(select, Math.floor(hour / hourMs), id, from, time, revision, ...bounds, limit);
    return merge(rows, this.#inBlocks(series, hour, from, before, 'last', limit, numbers), -1, limit);
  }

  /** Returns the change with a time (milliseconds since 1970) and a revision; undefined if there is no such change. */
  event(series: Series, time: number, revision: number): EventRow | undefined {
    if (!isTime(time)) return undefined;
    const { id, type } = series;
    const columns = 'time, value, revision, writer, source, cause_parameter, cause_time, cause_revision';
    const where = 'hour = ? AND parameter = ? AND time = ? AND revision = ?';
    const hour = Math.floor(time / hourMs);
    const select = `SELECT ${columns} FROM ${this.#rows} WHERE ${where}${typed[type]}`;
    const [row] = this.#all<EventRow>(select, hour, id, time, revision);
    if (row !== undefined) return row;
    const after = { time, revision: revision + 1 };
    return this.#inBlocks(series, hour * hourMs, time, after, 'last', 1, { first: revision, last: revision + 1 })[0];
  }

  writer(id: number): Origin | undefined {
    const [row] = this.#all<[Origin['kind'], string, string]>('SELECT kind, name, file FROM writer WHERE id = ?', id);
    if (row === undefined || !originKinds.includes(row[0])) return undefined;
    return { kind: row[0], name: row[1], ...(row[2] !== '' && { file: row[2] }) };
  }

  parameter(id: number): Series | undefined {
    const [row] = this.#all<[string, ValueType]>('SELECT address, type FROM parameter WHERE id = ?', id);
    return row && valueTypes.includes(row[1]) ? { id, address: row[0], type: row[1] } : undefined;
  }

  /**
   * Returns the changes that are stored in blocks of one hour, from a time on and before a position. The number of changes is at most
   * `limit`, or exceeds it by less than one block; with `last`, the changes are returned newest first.
   */
  #inBlocks(
    series: Series,
    hour: number,
    from: number,
    before: Place,
    which: 'first' | 'last',
    limit: number,
    { first, last }: Numbers,
  ): EventRow[] {
    if (!this.#hasBlocks) return [];
    const isMeant = ([time, value, revision]: EventRow) =>
      time >= from &&
      (time < before.time || (time === before.time && revision < before.revision)) &&
      revision >= first &&
      revision < last &&
      isStored(series.type, value);
    const found: EventRow[] = [];
    for (const block of this.#blocks([Math.floor(hour / hourMs), series.id], from, before.time, which)) {
      if (!isWhole(block)) throw new DamagedError('a block of changes differs from what was written');
      const events = unpackBlock(block).filter(isMeant);
      for (const event of which === 'first' ? events : events.reverse()) found.push(event);
      if (found.length >= limit) break;
    }
    return found;
  }

  /**
   * Yields the blocks with a key that may contain changes between two times, in the given order. With `last`, the blocks are looked up one
   * by one, because SQLite prepares a statement with a range and an order again each time, which takes ten times as long as reading a
   * block.
   */
  *#blocks(key: readonly [number, number], from: number, to: number, which: 'first' | 'last'): Iterable<StoredBlock> {
    const ofKey = 'FROM change_block WHERE hour = ? AND parameter = ? AND time';
    const newest = (isUpTo: string, time: number) =>
      this.#all<[number | null]>(`SELECT max(time) ${ofKey} ${isUpTo} ?`, ...key, time)[0]![0];
    const byPlace = (one: StoredBlock, other: StoredBlock) => one[0] - other[0] || one[1] - other[1];
    if (which === 'first') {
      const since = newest('<', from) ?? from; // the block before the range may reach into it
      const select = `SELECT ${blockColumns} ${ofKey} >= ? AND time <= ? AND ${areWhole}`;
      yield* this.#all<StoredBlock>(select, ...key, since, to).sort(byPlace);
      return;
    }
    for (let time = newest('<=', to); time !== null; time = newest('<', time)) {
      yield* this.#all<StoredBlock>(`SELECT ${blockColumns} ${ofKey} = ? AND ${areWhole}`, ...key, time)
        .sort(byPlace)
        .reverse();
      if (time < from) return;
    }
  }

  #rowsTable(): string {
    return this.#hasTable('change_block') ? 'change_row' : 'change';
  }

  get #hasBlocks(): boolean {
    return this.#rows === 'change_row';
  }

  #hasTable(name: string): boolean {
    return this.#all("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", name).length > 0;
  }

  #all<Row>(sql: string, ...values: (number | string)[]): Row[] {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return readRows(statement, ...values) as Row[];
  }
}

const spanIn = `parameter = ? AND time >= ? AND time < ? AND ${isWithin('count', 'count')}`;

/** SQL conditions, keyed by type, under which a stored value has the right form. A user may have edited the value. */
const number = (types: string, most: number) =>
  ` AND typeof(value) IN (${types}) AND value BETWEEN ${-most} AND ${most}`;
const typed: Readonly<Record<ValueType, string>> = {
  S: " AND typeof(value) IN ('text', 'blob')",
  B: ' AND value IN (0, 1)',
  I: number("'integer'", Number.MAX_SAFE_INTEGER),
  F: number("'real', 'integer'", Number.MAX_VALUE),
  T: '',
};

/** Returns whether a value that was read fulfils the condition for its type. */
function isStored(type: ValueType, stored: Stored): boolean {
  if (type === 'S') return typeof stored !== 'number';
  if (type === 'T') return true;
  return type === 'F' ? Number.isFinite(stored) : Number.isSafeInteger(stored);
}

/**
 * Merges two lists of changes, both ascending (1) or descending (-1). A change that is in both lists appears once. Returns at most `limit`
 * changes.
 */
function merge<Row extends ChangeRow | EventRow>(
  rows: Row[],
  packed: readonly Row[],
  sign: 1 | -1,
  limit: number,
): Row[] {
  if (packed.length === 0) return rows;
  const all =
    rows.length === 0 ? [...packed] : [...rows, ...packed].sort((a, b) => sign * (a[0] - b[0] || a[2] - b[2]));
  const once = all.filter(([time, , revision], at) => time !== all[at - 1]?.[0] || revision !== all[at - 1]?.[2]);
  return once.length > limit ? once.slice(0, limit) : once;
}

function emptyDatabase(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  database.exec(historyTables);
  return database;
}

/** Converts a stored value to a value of the given type. */
export function toValue(type: ValueType, stored: Stored): Value {
  return type === 'B' ? stored === 1 : readStored(stored);
}

function numbered(numbers: Numbers): string {
  return numbers === allNumbers ? '' : ' AND revision >= ? AND revision < ?';
}

function finite(number: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(number, Number.MAX_SAFE_INTEGER));
}

function orderOf(which: 'first' | 'last'): 'ASC' | 'DESC' {
  return which === 'first' ? 'ASC' : 'DESC';
}
