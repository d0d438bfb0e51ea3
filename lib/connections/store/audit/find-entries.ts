// Finds audit entries for a query, newest first.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { globToRegExp } from '../../../model/glob.ts';
import { type AuditEntry, auditKinds } from '../../../model/reports/audit-entry.ts';
import { AgeClock, beginAge, type ClockReading, type KeptAge, readPauses } from '../../../model/time/age-clock.ts';
import type { Value, ValueType } from '../../../model/value.ts';
import type { AuditQuestion } from '../../persistence.ts';
import { isWithin, readStored } from '../thread/database/read-rows.ts';
import { DamagedError, inTransaction } from '../thread/database/store-database.ts';
import type { AuditRow, EntryBlock } from './audit-messages.ts';
import { areWhole, blockColumns, isWhole, type StoredBlock, type StoredEntry, unpackEntries } from './entry-blocks.ts';

/** The number of rows between two checks of the time limit. */
const checkEvery = 1000;

/** An SQL condition that skips rows that a user has edited to contain invalid values, so that all other rows remain readable. */
const isRow = isWithin('count', '+n'); // as an expression, so that SQLite looks up times by index
const kinds = auditKinds.map((one) => `'${one}'`).join(', ');
const inRange = (column: string) =>
  `CASE WHEN typeof(${column}) <> 'integer' OR ${isWithin('integer', column)} THEN ${column} END AS ${column}`;
const columns = `n, time, kind, user, address, type, ${inRange('before')}, ${inRange('after')}, count, cause`;

/** A page of entries, and whether more entries match. */
interface FoundEntries {
  readonly entries: readonly AuditEntry[];
  readonly hasMore: boolean;
}

/**
 * Returns the newest entries that match a query, at most `limit`. `check` is called repeatedly, and throws if the search takes too long.
 * Errors: any SQLite error, and any error from `check`.
 */
export function findEntries(database: DatabaseSync, question: AuditQuestion, check: () => void): FoundEntries {
  const { address, limit } = question;
  const glob = address === undefined ? undefined : globToRegExp(address);
  const isMeant = searchOf(question);
  const hasBlocks = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'entry_block'").get() !== undefined;
  const rowsFound = newestFirst(
    findRows(database, hasBlocks ? 'entry_row' : 'entry', question),
    hasBlocks ? findInBlocks(database, question) : [],
  );
  const entries: AuditEntry[] = [];
  let rows = 0;
  for (const row of rowsFound) {
    if (++rows % checkEvery === 0) check();
    if (row === undefined) continue;
    if (glob !== undefined && !glob.test(row.address)) continue;
    const entry = entryOf(row);
    if (!isMeant(entry)) continue;
    if (entries.length === limit) return { entries, hasMore: true };
    entries.push(entry);
  }
  return { entries, hasMore: false };
}

/** Yields the entries in separate rows that may match a query, newest first. */
function* findRows(database: DatabaseSync, table: string, question: AuditQuestion): Iterable<StoredEntry> {
  const bounds = boundsOf(database, table, question);
  if (bounds === undefined) return;
  const [where, values] = conditionsOf(question);
  const sql = `SELECT ${columns} FROM ${table} WHERE ${['n >= ? AND n <= ?', ...where].join(' AND ')} ORDER BY n DESC`;
  yield* database.prepare(sql).iterate(...bounds, ...values) as Iterable<object> as Iterable<StoredEntry>;
}

/**
 * Yields the entries in blocks that may match a query, newest first, and `undefined` once per block. Blocks that do not contain the
 * searched strings are not unpacked. Errors: any SQLite error, `DamagedError`.
 */
function* findInBlocks(database: DatabaseSync, question: AuditQuestion): Iterable<StoredEntry | undefined> {
  const { from, to, before = Number.MAX_SAFE_INTEGER, address = '', user = '', kind, text = '' } = question;
  const likes = [quote(address.split('*')[0]!), quote(user), isOfBoolean(text) ? '' : quote(text)].map(containing);
  const where = ['n < ?', 'last_time >= ?', 'time <= ?', areWhole, ...likes.map(() => "entries LIKE ? ESCAPE '\\'")];
  const blocks = database.prepare(
    `SELECT ${blockColumns} FROM entry_block WHERE ${where.join(' AND ')} ORDER BY n DESC`,
  );
  blocks.setReturnArrays(true);
  const found = blocks.iterate(before, from, to, ...likes) as Iterable<unknown> as Iterable<StoredBlock>;
  const isMeant = (entry: StoredEntry) =>
    entry.n < before &&
    entry.time >= from &&
    entry.time <= to &&
    (kind === undefined ? auditKinds.includes(entry.kind) : entry.kind === kind);
  for (const block of found) {
    yield undefined;
    if (!isWhole(block)) throw new DamagedError('a block of entries differs from what was written');
    yield* unpackEntries(block).filter(isMeant).reverse();
  }
}

/** Merges separate entries and entries from blocks, newest first. */
function* newestFirst(
  rows: Iterable<StoredEntry>,
  packed: Iterable<StoredEntry | undefined>,
): Iterable<StoredEntry | undefined> {
  const others = packed[Symbol.iterator]();
  try {
    let other = others.next();
    for (const row of rows) {
      for (; !other.done && (other.value === undefined || other.value.n > row.n); other = others.next())
        yield other.value;
      yield row;
    }
    for (; !other.done; other = others.next()) yield other.value;
  } finally {
    others.return?.(); // a search that ends early closes its statement
  }
}

/** Returns the form that a string has within a JSON string. */
function quote(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/**
 * Returns whether a searched string is part of `true` or `false`. Booleans are stored as numbers, so a search for the string has to
 * consider them separately.
 */
function isOfBoolean(text: string): boolean {
  return ['true', 'false'].some((name) => name.includes(text.toLowerCase()));
}

/** Returns the SQL that selects the first entry at or after a time. Entries at most `slackMs` apart may be out of chronological order. */
function firstFrom(table: string): string {
  const oldest = `SELECT time FROM ${table} WHERE time >= ?1 AND ${isRow} ORDER BY time LIMIT 1`;
  return `SELECT min(n) AS n FROM ${table} WHERE time <= (${oldest}) + ${slackMs} AND time >= ?1 AND ${isRow}`;
}

function lastUpTo(table: string): string {
  const newest = `SELECT time FROM ${table} WHERE time <= ?1 AND ${isRow} ORDER BY time DESC LIMIT 1`;
  return `SELECT max(n) AS n FROM ${table} WHERE time >= (${newest}) - ${slackMs} AND time <= ?1 AND ${isRow}`;
}

/** Returns the numbers of the first and the last entry in the time range of a query; undefined if the range has no entries. */
function boundsOf(
  database: DatabaseSync,
  table: string,
  { from, to, before }: AuditQuestion,
): [number, number] | undefined {
  const number = (sql: string, ...times: number[]) =>
    (database.prepare(sql).get(...times) as { n: number | null } | undefined)?.n ?? undefined;
  const oldest = number(`SELECT min(n) AS n FROM ${table} WHERE ${isWithin('count', 'n')}`);
  if (oldest === undefined) return undefined;
  const range = [from - slackMs, to + slackMs] as const;
  const isOrdered = oldest > disorderedOf(database);
  const first = isOrdered
    ? number(firstFrom(table), range[0])
    : number(`SELECT min(n) AS n FROM ${table} WHERE time >= ? AND time <= ? AND ${isRow}`, ...range);
  const last = isOrdered
    ? number(lastUpTo(table), range[1])
    : number(`SELECT max(n) AS n FROM ${table} WHERE time >= ? AND time <= ? AND ${isRow}`, ...range);
  if (first === undefined || last === undefined) return undefined;
  return [first, before === undefined ? last : Math.min(last, before - 1)];
}

/**
 * Returns the number up to which entries may be out of chronological order, because the clock was set back or another hub reported them;
 * infinite if unknown.
 */
function disorderedOf(database: DatabaseSync): number {
  const isNoted = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'age'").get() !== undefined;
  if (!isNoted) return Number.POSITIVE_INFINITY;
  const row = database.prepare(`SELECT disordered FROM age WHERE ${isWithin('count', 'disordered')}`).get() as
    | { disordered: number }
    | undefined;
  return row?.disordered ?? Number.POSITIVE_INFINITY;
}

function conditionsOf({ from, to, address, user, kind, text }: AuditQuestion): [string[], (string | number)[]] {
  const where = ['time >= ?', 'time <= ?', `kind IN (${kinds})`, isWithin('count', 'count')];
  const values: (string | number)[] = [from, to];
  const add = (condition: string, ...more: string[]) => {
    where.push(condition);
    values.push(...more);
  };
  if (address !== undefined) add('address GLOB ?', wider(address));
  if (kind !== undefined) add('kind = ?', kind);
  if (user !== undefined) add(`user LIKE ? ESCAPE '\\'`, containing(user));
  if (text !== undefined) {
    const columns = ['address', 'user', shown('before'), shown('after'), 'cause'];
    const likes = columns.map((column) => `${column} LIKE ? ESCAPE '\\'`);
    const bytes = ['before', 'after'].map((column) => `typeof(${column}) = 'blob'`);
    add(`(${[...likes, ...bytes].join(' OR ')})`, ...columns.map(() => containing(text)));
  }
  return [where, values];
}

/**
 * Returns an SQLite glob that matches at least the addresses that a glob of the hub matches. In SQLite's globs, a slash is an ordinary
 * character.
 */
function wider(glob: string): string {
  return glob.replace(/[[?]/g, '[$&]').replace(/\*\*\/|\*+/g, '*');
}

/** Returns an SQL expression for a value as people see it, because a search for `true` or `false` must find booleans as well. */
function shown(column: string): string {
  return `CASE WHEN type <> 'B' THEN ${column} WHEN ${column} = 1 THEN 'true' WHEN ${column} = 0 THEN 'false' END`;
}

/** Returns a LIKE pattern for strings that contain `text`. LIKE ignores case only in ASCII, so all other characters become wildcards. */
function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&').replace(/[^ -~]+/g, '%')}%`;
}

/** Creates the exact filter for a query, which is needed because LIKE may match too much. */
function searchOf({ user = '', text = '' }: AuditQuestion): (entry: AuditEntry) => boolean {
  const has = (value: Value | undefined, part: string) =>
    String(value ?? '')
      .toLowerCase()
      .includes(part);
  const userPart = user.toLowerCase();
  const textPart = text.toLowerCase();
  return (entry) => {
    const { address, before, after, cause } = entry;
    return (
      has(entry.user, userPart) && [address, entry.user, before, after, cause].some((value) => has(value, textPart))
    );
  };
}

function entryOf({ n, time, kind, user, address, type, before, after, count, cause }: StoredEntry): AuditEntry {
  const [old, now] = [typed(type, before), typed(type, after)];
  return {
    n,
    time,
    kind,
    user,
    ...(address !== '' && { address }),
    ...(old !== undefined && { before: old }),
    ...(now !== undefined && { after: now }),
    count,
    ...(cause !== '' && { cause }),
  };
}

function typed(type: ValueType | '', stored: string | Uint8Array | number | null): Value | undefined {
  if (stored === null || (typeof stored === 'number' && !Number.isFinite(stored))) return undefined;
  return type === 'B' ? stored === 1 : readStored(stored);
}

// The age of entries. From time to time, a mark records the number of the newest entry and the current time on the age clock. The times of
// the entries cannot be used, because the wall clock may have been set.

/** The maximum delay of a deletion, as a share of the setting `keep`. Marks are at least a minute and at most an hour apart. */
const markShare = 1 / 100;
const leastMarkMs = 60_000;
const longestMarkMs = 3_600_000;
/** The maximum time by which entries may usually be out of chronological order, in milliseconds. */
const slackMs = 1000;

export class EntryAges {
  readonly #database: DatabaseSync;
  readonly #keepMs: number;
  readonly #clock: AgeClock;
  readonly #putAge: StatementSync;
  readonly #markEveryMs: number;
  #lastMark: number;
  /** The time of the newest entry, in milliseconds since 1970. */
  #lastTime: number;
  #disordered: number;

  /** Continues the age clock with the state in the database. Errors: any SQLite error. */
  constructor(database: DatabaseSync, keepMs: number, now: ClockReading) {
    this.#database = database;
    this.#keepMs = keepMs;
    this.#putAge = database.prepare('INSERT OR REPLACE INTO age VALUES (1, ?, ?, ?, ?)');
    this.#markEveryMs = Math.min(longestMarkMs, Math.max(leastMarkMs, keepMs * markShare));
    const row = this.#read<{ ran: number; wall: number; pauses: string; disordered: number }>('SELECT * FROM age');
    this.#disordered = row?.disordered ?? this.#last().n;
    const kept = row === undefined ? this.#begin(now) : { ...row, pauses: readPauses(row.pauses) };
    this.#clock = new AgeClock(kept, now);
    this.#lastMark = this.#read<{ ran: number | null }>('SELECT max(ran) AS ran FROM age_mark')?.ran ?? 0;
    this.#lastTime = this.#last().time;
  }

  /** The total time for which the hub has been running, in milliseconds, up to the last entries. */
  get ran(): number {
    return this.#clock.kept.ran;
  }

  /** Notes entries that are written in this transaction, with the current time on the age clock. */
  note(rows: readonly AuditRow[], blocks: readonly EntryBlock[], now: ClockReading): void {
    const ordered = blocks.length === 0 ? rows : [...rows, ...blocks].sort((one, other) => one.n - other.n);
    for (const one of ordered) {
      if (one.time < this.#lastTime - slackMs) this.#disordered = one.n;
      this.#lastTime = 'lastTime' in one ? one.lastTime : one.time;
    }
    this.#clock.read(now);
    const { ran, wall, pauses } = this.#clock.kept;
    const reading = [ran, wall].map((one) => BigInt(Math.trunc(one)));
    this.#putAge.run(...reading, JSON.stringify(pauses), BigInt(this.#disordered));
    if (ran - this.#lastMark < this.#markEveryMs) return;
    this.#run('INSERT OR REPLACE INTO age_mark VALUES (?, ?)', ran, this.#last().n);
    this.#lastMark = ran;
  }

  /** Returns the number up to which entries are older than `keepMs`; 0 if there are none. Call this within a transaction. */
  takeTooOld(): number {
    if (!Number.isFinite(this.#keepMs)) return 0;
    const mark = this.#read<{ ran: number; n: number }>(
      'SELECT ran, n FROM age_mark WHERE ran <= ? ORDER BY ran DESC LIMIT 1',
      this.#clock.ages.newestOf(this.#keepMs),
    );
    if (mark === undefined) return 0;
    this.#run('DELETE FROM age_mark WHERE ran < ?', mark.ran);
    return mark.n;
  }

  /**
   * Creates marks for entries from an earlier version, which had none. The ages are derived from the times of the entries and from when the
   * hub was last running.
   */
  #begin({ wall }: ClockReading): KeptAge {
    const { seen = wall } = this.#read<{ seen: number }>('SELECT seen FROM run') ?? {};
    const marks = new Map<number, number>();
    let time = Number.NEGATIVE_INFINITY;
    let marked = Number.NEGATIVE_INFINITY;
    let last = 0;
    for (const row of this.#database
      .prepare('SELECT n, time FROM entry_row ORDER BY n')
      .iterate() as Iterable<object> as Iterable<AuditRow>) {
      time = Math.max(time, Math.min(row.time, seen));
      if (time - marked >= longestMarkMs) {
        if (last > 0) marks.set(marked, last);
        marked = time;
      }
      last = row.n;
    }
    if (last > 0) marks.set(seen, last);
    inTransaction(this.#database, () => {
      for (const [ran, n] of marks) this.#run('INSERT OR REPLACE INTO age_mark VALUES (?, ?)', ran, n);
    });
    return beginAge(seen);
  }

  #last(): { n: number; time: number } {
    const newest = (table: string, n: string, time: string) =>
      `SELECT * FROM (SELECT ${n} AS n, ${time} AS time FROM ${table} ORDER BY n DESC LIMIT 1)`;
    const all = [newest('entry_row', 'n', 'time'), newest('entry_block', 'last', 'last_time')];
    return this.#read(`${all.join(' UNION ALL ')} ORDER BY n DESC LIMIT 1`) ?? { n: 0, time: Number.NEGATIVE_INFINITY };
  }

  #read<Row>(sql: string, ...values: number[]): Row | undefined {
    return this.#database.prepare(sql).get(...values) as Row | undefined;
  }

  #run(sql: string, ...values: (number | string)[]): void {
    const bound = values.map((value) => (typeof value === 'string' ? value : BigInt(Math.trunc(value))));
    this.#database.prepare(sql).run(...bound);
  }
}
