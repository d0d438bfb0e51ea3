// Writes changes, finished minutes and hours, and the progress to an open database, and deletes data that is too old.
import type { Ages } from '../../../../model/time/age-clock.ts';
import { dayMs } from '../../../../model/time/iso-time.ts';
import type { ClockJump } from '../../../../model/time/wall-clock.ts';
import { isWithin, readRows } from '../../thread/database/read-rows.ts';
import { troubleOf } from '../../thread/database/store-database.ts';
import type { AbsenceRow } from '../history-messages.ts';
import { defaultTimes, type HistoryRule } from '../history-rules.ts';
import { downReason, hourMs, minuteMs } from '../history-tables.ts';
import { type Interval, Segments } from '../segments.ts';
import type { Batch } from './batch.ts';
import { always, dropChanges, dropSpans, hoursOf } from './drop.ts';
import type { HistoryDatabase, Mark, RecordedRun, SpanTable } from './history-database.ts';
import { RuleSpans, readRules, rebuildSpans, type WaitingSpan } from './rebuild.ts';
import type { Room } from './room.ts';

/**
 * The maximum number of changes in one transaction. If a transaction does not fit, fewer changes are written at once, because long strings
 * need more space.
 */
const transactionRows = 5000;
const leastRows = 4;
/** The maximum number of minutes and hours in one transaction. */
const transactionSpans = 2000;
/** The interval at which the mark is renewed while there are no changes, in milliseconds. */
const seenEveryMs = 10_000;
/** The maximum time spent on deletions after each write, in milliseconds. */
const deletingMs = 100;

export class Writing {
  readonly #database: HistoryDatabase;
  readonly #rules: readonly HistoryRule[];
  readonly #room: Room;
  readonly #waiting: WaitingSpan[] = [];
  /** Whether the last run in the database is the current run of the hub. */
  readonly #isSameRun: boolean;
  readonly #spans: readonly RuleSpans[];
  #mark: Mark;
  #run: RecordedRun;
  #segments: Segments;
  #rows = transactionRows;
  /**
   * The number up to which changes have already been counted. If such a change arrives again, its value is set, but the change is not
   * counted.
   */
  readonly #countedBefore: number;
  #deleting: Generator<void, void, void> | undefined;
  /** The ages at the time of the last search for data that is too old. */
  #deletedAt: Ages | undefined;

  /** `epoch` identifies the current run of the hub. */
  constructor(database: HistoryDatabase, rules: readonly HistoryRule[], room: Room, epoch: string) {
    this.#database = database;
    this.#rules = rules;
    this.#room = room;
    this.#mark = database.mark() ?? { seen: 0, minutes: 0, hours: 0 };
    const run = database.run();
    this.#isSameRun = run.epoch === epoch;
    this.#run = this.#isSameRun ? run : { epoch, base: run.last, last: run.last };
    this.#countedBefore = run.last;
    this.#segments = new Segments(database.jumps());
    this.#spans = rules.map((rule) => new RuleSpans(rule, this.#waiting));
  }

  /** Restores the spans that an earlier run left unfinished. */
  rebuild(): void {
    const ruleOf = readRules(this.#database, this.#rules);
    const { first } = this.#segments.present;
    rebuildSpans(this.#database, this.#mark, first, (parameter) => this.#spans[ruleOf(parameter) ?? -1]);
  }

  /**
   * Adds the gap since the last recording, if there is one. If the clock was set back in the meantime, the length of the gap is unknown.
   */
  addGap(startedAt: number, now: number): void {
    const { seen } = this.#mark;
    if (seen === 0) return;
    this.#write(() => this.#database.endAbsences(seen));
    const [end, reason] = this.#isSameRun ? [now, 'the store was stopped'] : [startedAt, downReason];
    const start = Math.min(seen, end);
    this.#write(() => {
      if (seen > end || !this.#segments.isOrdered)
        this.#addJump({ before: seen, after: end }, undefined, !this.#isSameRun);
      this.#database.addGap({ start, end, lost: 0, reason });
      this.#setMark({ ...this.#mark, seen: now });
    });
    for (const spans of this.#spans) {
      if (seen > end) spans.jump(seen, end);
      spans.interrupt(start, end, true);
    }
  }

  /**
   * Writes the changes in a batch in several transactions, and calls `wrote` with the number of rows after each of them. Errors: any SQLite
   * error; completed transactions are kept.
   */
  writeChanges(batch: Batch, wrote: (rows: number) => void): void {
    const { columns, until, absences, renames } = batch;
    if (renames.length > 0) {
      this.#write(() => {
        for (const rename of renames) this.#database.rename(rename);
      });
      batch.renames = [];
    }
    const isIdle = columns.length === 0 && batch.jumps.length === 0 && absences.length === 0;
    if (isIdle && Math.abs(until - this.#mark.seen) < seenEveryMs) return;
    while (!batch.isWritten) {
      const before = batch.written;
      try {
        this.#write(() => {
          batch.writeSome(
            this.#database,
            this.#rows,
            this.#database.transactionPages / 2,
            this.#run.base,
            this.#countedBefore,
          );
          if (!batch.isWritten) return;
          this.#run = { ...this.#run, last: Math.max(this.#run.last, this.#run.base + batch.lastRevision) };
          this.#database.setRun(this.#run);
          for (const jump of batch.jumps) this.#addJump(jump, jump.revision);
          for (const gap of columns.flatMap(({ gaps }) => gaps)) this.#database.addGap(gap);
          for (const one of absences) this.#database.addAbsence(one, this.#run.base + one.revision);
          this.#setMark({ ...this.#mark, seen: until });
        });
      } catch (error) {
        batch.goBack(before);
        this.#database.leftOut.forget();
        if (troubleOf(error) !== 'full' || this.#rows === leastRows) throw error;
        this.#rows = Math.max(leastRows, this.#rows >> 2);
        continue;
      }
      this.#rows = Math.min(transactionRows, this.#rows * 2);
      wrote(batch.written - before);
    }
  }

  /** Counts the changes in a written batch towards their minutes and hours. */
  count(batch: Batch): void {
    const [jumps, absences] = [[...batch.jumps], [...batch.absences]];
    const timeOf = ({ start, end }: AbsenceRow) => end ?? start;
    const absence = () => {
      const one = absences.shift()!;
      const ids = batch.idsOf(one.connection);
      for (const spans of this.#spans) spans.pause(ids, timeOf(one), one.end === undefined);
    };
    const jump = () => {
      const { before, after } = jumps.shift()!;
      for (const spans of this.#spans) spans.jump(before, after);
    };
    for (const columns of batch.columns) {
      for (const { start, end } of columns.gaps) for (const spans of this.#spans) spans.interrupt(start, end, false);
      batch.forEachRow(columns, (rule, parameter, time, value, revision) => {
        while (absences.length > 0 && time > timeOf(absences[0]!)) absence();
        while (jumps.length > 0 && revision > (jumps[0]!.revision ?? 0)) jump();
        if (this.#run.base + revision > this.#countedBefore) this.#spans[rule]?.add(parameter, time, value);
        else this.#spans[rule]?.begin(parameter, time, value);
      });
    }
    while (absences.length > 0) absence();
    while (jumps.length > 0) jump();
  }

  /** Writes the minutes and hours that are over at a given time. Errors: any SQLite error; unwritten spans stay in the queue. */
  writeSpans(until: number): void {
    for (const spans of this.#spans) spans.endBefore(until);
    const open = this.#spans.map((spans) => spans.openSince(until));
    const [minutes, hours] = [Math.min(...open.map((one) => one.minutes)), Math.min(...open.map((one) => one.hours))];
    if (this.#spans.length === 0 || (minutes === this.#mark.minutes && this.#waiting.length === 0)) return;
    while (this.#waiting.length > transactionSpans) this.#writeWaiting(transactionSpans, this.#mark);
    this.#writeWaiting(transactionSpans, { ...this.#mark, minutes, hours });
  }

  /** Deletes data that is too old, in small steps. A new search begins at most once an hour. */
  delete(): void {
    if (this.#deleting === undefined) {
      const { ran } = this.#database.ages;
      if (this.#deletedAt !== undefined && ran - this.#deletedAt.ran < hourMs) return;
      const { ages } = this.#database.ages.all();
      this.#deleting = this.#clean(this.#deletedAt, ages);
      this.#deletedAt = ages;
    }
    for (const startedAt = performance.now(); performance.now() - startedAt < deletingMs; )
      if (this.#deleting.next().done) {
        this.#deleting = undefined;
        return;
      }
  }

  *#clean(before: Ages | undefined, now: Ages): Generator<void, void, void> {
    yield* keepWithinTimes(this.#database, this.#rules, before);
    yield* dropUnnamed(this.#database, before?.ran ?? Number.NEGATIVE_INFINITY, now.ran, (parameter) =>
      this.#spans.some((one) => one.has(parameter)),
    );
  }

  /** Writes the mark, which states that everything up to `now` has been recorded. */
  end(now: number): void {
    this.#write(() => this.#setMark({ ...this.#mark, seen: now }));
  }

  #writeWaiting(count: number, mark: Mark): void {
    const rows = this.#waiting.slice(0, count);
    this.#write(() => {
      for (const [table, row, part] of rows)
        if (this.#hasParts(table, row.time)) this.#database.addToSpan(table, row, part);
        else this.#database.putSpan(table, row);
      this.#setMark(mark);
    });
    this.#waiting.splice(0, rows.length);
  }

  /** Returns whether a span may already have a row, because its time occurred twice or the clock jumped within the span. */
  #hasParts(table: SpanTable, from: number): boolean {
    return this.#segments.areSeveralIn({ from, to: from + (table === 'minute' ? minuteMs : hourMs) });
  }

  /** Adds a clock jump that comes after the change with a revision or, without a revision, after all recorded changes. */
  #addJump({ before, after }: ClockJump, revision: number | undefined, isStart = false): void {
    const sequence = revision === undefined ? this.#run.last + 1 : this.#run.base + revision + 1;
    this.#database.addJump({ sequence, before, after, start: isStart ? 1 : 0 });
    this.#segments = new Segments(this.#database.jumps());
  }

  #setMark(mark: Mark): void {
    this.#database.setMark(mark);
    this.#mark = mark;
  }

  #write(work: () => void): void {
    const [mark, run, segments] = [this.#mark, this.#run, this.#segments];
    this.#room.prepare();
    try {
      this.#database.write(work);
    } catch (error) {
      this.#mark = mark;
      this.#run = run;
      this.#segments = segments;
      this.#database.forgetIds();
      throw error;
    }
  }
}

// A parameter, a writer or a gap takes only a few bytes, but over the years they add up. So the store occasionally deletes the oldest gaps,
// and the parameters and writers to which no row refers.

/** The number of parameters or writers up to which a search for unused ones is not worthwhile. */
export const usualNames = 10_000;
/** The number of gaps that the database keeps, which is more than a query reads. Older gaps are deleted. */
export const keptGaps = 10_000;
/** The number of absences that the database keeps, for all connections together. Older absences are deleted. */
export const keptAbsences = 100_000;
/** The maximum number of rows that one step deletes, and of parameters whose changes one step reads. */
const stepRows = 500;
const stepParameters = 50;

type Steps = Generator<void, void, void>;

/**
 * Deletes the oldest gaps and absences and, once a day, parameters and writers that are no longer used, in steps. `isOpen` returns whether
 * a parameter still has an unfinished span.
 */
function* dropUnnamed(
  database: HistoryDatabase,
  before: number,
  now: number,
  isOpen: (parameter: number) => boolean,
): Steps {
  yield* dropGaps(database);
  const isMany = numberOf(database, 'parameter') > usualNames || numberOf(database, 'writer') > usualNames;
  if (!isMany || Math.floor(before / dayMs) === Math.floor(now / dayMs)) return;
  const given = database.watchNames();
  try {
    const named = { parameter: new Set<number>(), writer: new Set<number>() };
    yield* readNames(database, named);
    const isSpanned = database.database.prepare(
      'SELECT 1 WHERE EXISTS (SELECT 1 FROM minute WHERE parameter = ?1) OR EXISTS (SELECT 1 FROM hour WHERE parameter = ?1)',
    );
    const isParameter = (id: number) => named.parameter.has(id) || given.parameter.has(id) || isOpen(id);
    yield* dropEach(database, 'parameter', (id) => isParameter(id) || isSpanned.get(id) !== undefined);
    yield* dropEach(database, 'writer', (id) => named.writer.has(id) || given.writer.has(id));
  } finally {
    database.watchNothing();
  }
}

function* dropGaps(database: HistoryDatabase): Steps {
  const select = 'SELECT rowid FROM gap ORDER BY rowid DESC LIMIT -1 OFFSET ?';
  const drop = database.database.prepare(`DELETE FROM gap WHERE rowid IN (${select})`);
  if (numberOf(database, 'gap') > keptGaps) database.write(() => drop.run(keptGaps));
  yield;
  const older = 'SELECT rowid FROM absence ORDER BY rowid DESC LIMIT -1 OFFSET ?';
  const dropOlder = database.database.prepare(`DELETE FROM absence WHERE rowid IN (${older})`);
  if (numberOf(database, 'absence') > keptAbsences) database.write(() => dropOlder.run(keptAbsences));
  yield;
}

/**
 * Adds to `named` the keys of all parameters and writers to which changes refer, in steps: hour by hour and, within an hour, parameter by
 * parameter.
 */
function* readNames(history: HistoryDatabase, named: Record<'parameter' | 'writer', Set<number>>): Steps {
  const { database } = history;
  const nextIn = (table: string) =>
    `SELECT min(parameter) AS parameter FROM ${table} WHERE hour = ?1 AND parameter > ?2 AND ${isWithin('count', 'parameter')}`;
  const next = database.prepare(
    `SELECT min(parameter) AS parameter FROM (${nextIn('change_row')} UNION ALL ${nextIn('change_block')})`,
  );
  const names = database.prepare(
    'SELECT DISTINCT writer, source, cause_parameter FROM change WHERE hour = ? AND parameter = ?',
  );
  let looked = 0;
  for (const hour of hoursOf(history))
    for (let last = 0; ; ) {
      const { parameter } = next.get(hour, last) as { parameter: number | null };
      if (parameter === null) break;
      last = parameter;
      named.parameter.add(parameter);
      for (const [writer, source, cause] of readRows(names, hour, parameter) as NamedRow[]) {
        named.writer.add(writer).add(source);
        if (cause !== null) named.parameter.add(cause);
      }
      if (++looked % stepParameters === 0) yield;
    }
}

type NamedRow = [writer: number, source: number, cause: number | null];

function* dropEach(database: HistoryDatabase, table: 'parameter' | 'writer', isNamed: (id: number) => boolean): Steps {
  const next = database.database.prepare(`SELECT id FROM ${table} WHERE id > ? ORDER BY id LIMIT ${stepRows}`);
  const drop = database.database.prepare(`DELETE FROM ${table} WHERE id = ?`);
  let last = 0;
  for (;;) {
    const ids = (next.all(last) as { id: number }[]).map(({ id }) => id);
    if (ids.length === 0) return;
    last = ids.at(-1)!;
    const unnamed = ids.filter((id) => !isNamed(id));
    if (unnamed.length > 0)
      database.write(() => {
        for (const id of unnamed) drop.run(id);
      });
    yield;
  }
}

function numberOf({ database }: HistoryDatabase, table: string): number {
  return (database.prepare(`SELECT count(*) AS count FROM ${table}`).get() as { count: number }).count;
}

// Deletes data that is older than the retention times in its rule, hour by hour.

/** The number of hours that one step examines. */
const stepHours = 1000;

/**
 * Deletes data that is too old, in steps. `before` contains the ages at the last search, which has already deleted all data that was too
 * old then; undefined for the first search.
 */
function* keepWithinTimes(
  database: HistoryDatabase,
  rules: readonly HistoryRule[],
  before: Ages | undefined,
): Generator<void, void, void> {
  const ruleOf = readRules(database, rules);
  const timesOf = (parameter: number) => rules[ruleOf(parameter) ?? -1] ?? defaultTimes;
  const hours = database.ages.all();
  let looked = 0;
  for (const hour of hoursOf(database)) {
    const notedAt = hours.notedAt(hour);
    const ageMs = hours.ages.of(notedAt);
    const ageBeforeMs = before?.of(notedAt) ?? Number.NEGATIVE_INFINITY;
    if ([...rules, defaultTimes].some(({ rawMs }) => ageMs >= rawMs && ageBeforeMs < rawMs))
      yield* dropChanges(database, hour, (parameter) => (ageMs >= timesOf(parameter).rawMs ? [always] : []));
    if (++looked % stepHours === 0) yield;
  }
  const intervals = new Map<number, readonly Interval[]>();
  const olderThan = (ageMs: number) => {
    let known = intervals.get(ageMs);
    if (known === undefined) {
      known = Number.isFinite(ageMs) ? hours.upTo(hours.ages.newestOf(ageMs)) : [];
      intervals.set(ageMs, known);
    }
    return known;
  };
  yield* dropSpans(database, 'minute', (parameter) => olderThan(timesOf(parameter).minutesMs));
  yield* dropSpans(database, 'hour', (parameter) => olderThan(timesOf(parameter).hoursMs));
}
