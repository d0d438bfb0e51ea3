// Rebuilds the unfinished minutes and hours that the thread held in memory when it ended: minutes from the changes, and hours from the
// written minutes and any later changes.
import type { DatabaseSync } from 'node:sqlite';
import { isWithin } from '../../thread/database/read-rows.ts';
import { areWhole, blockColumns, type StoredBlock, unpackBlock } from '../blocks.ts';
import { createRuleFinder, type HistoryRule } from '../history-rules.ts';
import { hourMs, minuteMs } from '../history-tables.ts';
import type { HistoryDatabase, Mark, SpanTable } from './history-database.ts';
import { type SpanPart, type SpanRow, Spans } from './spans.ts';

/**
 * Rebuilds the unfinished spans of all parameters. `spansOf` returns the spans for the key of a parameter. Changes with a revision below
 * `first` were counted before the clock jumped.
 */
export function rebuildSpans(
  { database }: HistoryDatabase,
  { minutes, hours }: Mark,
  first: number,
  spansOf: (parameter: number) => RuleSpans | undefined,
): void {
  const written = database
    .prepare(
      `SELECT parameter, time, min, mean, max, last, count FROM parameter JOIN minute ON parameter = id
       WHERE time >= ? AND time < ? AND ${isWithin('count', 'count')} ORDER BY parameter, time`,
    )
    .iterate(hours, minutes) as Iterable<object> as Iterable<SpanRow>;
  for (const row of written) spansOf(row.parameter)?.hours?.addRow(row, minuteMs);
  const held = database.prepare('SELECT last FROM minute WHERE parameter = ? AND time < ? ORDER BY time DESC LIMIT 1');
  const least = Math.max(first, Number.MIN_SAFE_INTEGER);
  for (const { parameter, time, revision, value } of changesSince(database, minutes)) {
    if (time < minutes || revision < least) continue;
    const spans = spansOf(parameter);
    if (spans === undefined) continue;
    if (spans.minutes !== undefined && !spans.minutes.has(parameter)) {
      const { last } = (held.get(parameter, minutes) ?? { last: null }) as { last: number | null };
      if (last !== null) spans.minutes.begin(parameter, minutes, last);
    }
    spans.add(parameter, time, Number.isFinite(value) ? (value as number) : Number.NaN);
  }
}

interface Recorded {
  readonly hour: number;
  readonly parameter: number;
  readonly time: number;
  readonly revision: number;
  readonly value: unknown;
}

/**
 * Yields all changes at or after a time, sorted by hour, parameter and time, the order in which the database stores both rows and blocks.
 */
function* changesSince(database: DatabaseSync, since: number): Iterable<Recorded> {
  const hour = Math.floor(since / hourMs);
  const rows = database
    .prepare(
      `SELECT hour, parameter, time, revision, CASE typeof(value) WHEN 'integer' THEN CAST(value AS REAL) ELSE value END AS value
       FROM change_row WHERE hour >= ? AND time >= ? AND ${isWithin('integer', 'revision')} AND ${isWithin('count', 'parameter')}
       AND ${isWithin('time', 'time')} ORDER BY hour, parameter, time, revision`,
    )
    .iterate(hour, since) as Iterable<object> as Iterable<Recorded>;
  const unpacked = inBlocks(database, hour, since);
  let packed = unpacked.next();
  for (const row of rows) {
    for (; !packed.done && isBefore(packed.value, row); packed = unpacked.next()) yield packed.value;
    yield row;
  }
  for (; !packed.done; packed = unpacked.next()) yield packed.value;
}

function* inBlocks(database: DatabaseSync, first: number, since: number): Generator<Recorded, void, void> {
  const blocks = database.prepare(
    `SELECT ${blockColumns}, hour, parameter FROM change_block
     WHERE hour >= ? AND last_time >= ? AND ${areWhole} ORDER BY hour, parameter, time, revision`,
  );
  blocks.setReturnArrays(true);
  type Row = [...StoredBlock, hour: number, parameter: number];
  for (const row of blocks.iterate(first, since) as Iterable<unknown> as Iterable<Row>) {
    const [hour, parameter] = row.slice(-2) as [number, number];
    for (const [time, value, revision] of unpackBlock(row.slice(0, -2) as unknown as StoredBlock))
      yield { hour, parameter, time, revision, value };
  }
}

function isBefore(one: Recorded, other: Recorded): boolean {
  const by = one.hour - other.hour || one.parameter - other.parameter || one.time - other.time;
  return (by || one.revision - other.revision) < 0;
}

// The unfinished minutes and hours of all parameters to which the same rule applies.

/** The row of a finished minute or hour that is waiting to be written. */
export type WaitingSpan = readonly [table: SpanTable, row: SpanRow, part: SpanPart];

export class RuleSpans {
  readonly minutes: Spans | undefined;
  readonly hours: Spans | undefined;
  /** The maximum delay of a change, in milliseconds. The last value of an interval arrives only after the interval has ended. */
  readonly #lateMs: number;

  constructor(
    { everyMs, minutesMs, hoursMs }: Pick<HistoryRule, 'everyMs' | 'minutesMs' | 'hoursMs'>,
    waiting: WaitingSpan[],
  ) {
    this.#lateMs = everyMs;
    if (minutesMs > 0) this.minutes = new Spans(minuteMs, (...row) => waiting.push(['minute', ...row]));
    if (hoursMs > 0) this.hours = new Spans(hourMs, (...row) => waiting.push(['hour', ...row]));
  }

  add(parameter: number, time: number, value: number): void {
    this.minutes?.add(parameter, time, value);
    this.hours?.add(parameter, time, value);
  }

  /** Returns whether a parameter has an unfinished minute or hour. */
  has(parameter: number): boolean {
    return (this.minutes?.has(parameter) ?? false) || (this.hours?.has(parameter) ?? false);
  }

  /** Sets the value of a parameter at a given time without counting a change. */
  begin(parameter: number, time: number, value: number): void {
    this.minutes?.begin(parameter, time, value);
    this.hours?.begin(parameter, time, value);
  }

  /** Ends the minutes and hours that are over at a given time. Apart from late changes, no older changes may follow. */
  endBefore(until: number): void {
    this.minutes?.endBefore(until - this.#lateMs);
    this.hours?.endBefore(until - this.#lateMs);
  }

  /** Returns the starts of the minute and the hour that are unfinished at a given time. */
  openSince(until: number): { readonly minutes: number; readonly hours: number } {
    const time = until - this.#lateMs;
    return { minutes: Math.floor(time / minuteMs) * minuteMs, hours: Math.floor(time / hourMs) * hourMs };
  }

  jump(before: number, after: number): void {
    this.minutes?.jump(before, after);
    this.hours?.jump(before, after);
  }

  /** Excludes the values of some parameters from a time on, or includes them again. */
  pause(parameters: ReadonlySet<number>, time: number, isPaused: boolean): void {
    this.minutes?.pause(parameters, time, isPaused);
    this.hours?.pause(parameters, time, isPaused);
  }

  interrupt(start: number, end: number, isForgotten: boolean): void {
    this.minutes?.interrupt(start, end, isForgotten);
    this.hours?.interrupt(start, end, isForgotten);
  }
}

/**
 * Reads all parameters in the database. Returns a function that maps the key of a parameter to the index of its rule, or to undefined if no
 * rule selects the parameter any more.
 */
export function readRules(
  { database }: HistoryDatabase,
  rules: readonly HistoryRule[],
): (parameter: number) => number | undefined {
  const find = createRuleFinder(rules);
  const found = new Map<number, number | undefined>();
  const rows = database.prepare('SELECT id, address FROM parameter').iterate() as Iterable<{
    id: number;
    address: string;
  }>;
  for (const { id, address } of rows) found.set(id, find(address));
  return (parameter) => found.get(parameter);
}
