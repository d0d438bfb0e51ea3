// Deletes old rows in small transactions, one per step of a generator, so that new changes never have to wait long.

import { isWithin } from '../../thread/database/read-rows.ts';
import type { Interval } from '../segments.ts';
import type { HistoryDatabase, SpanTable } from './history-database.ts';

/** The approximate maximum number of rows that one step deletes, and the maximum number of blocks, which are larger. */
const stepRows = 5000;
const stepBlocks = 200;
/** The maximum number of parameters that one step visits. */
const mostStepParameters = 500;

type Steps = Generator<void, void, void>;

/** Returns the intervals in which the rows of a parameter are deleted. */
export type Cut = (parameter: number) => readonly Interval[];

export const always: Interval = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

/** Yields the hours that contain changes, in hours since 1970, oldest first. Rows may be deleted between two steps. */
export function* hoursOf(database: HistoryDatabase): Generator<number, void, void> {
  let hour = database.hourAfter(Number.MIN_SAFE_INTEGER);
  for (; hour !== undefined; hour = database.hourAfter(hour)) yield hour;
}

/**
 * Deletes those changes within one hour that lie in the intervals from `cut`, in steps. A block that begins in one of these intervals is
 * deleted as a whole.
 */
export function* dropChanges(database: HistoryDatabase, hour: number, cut: Cut): Steps {
  yield* dropOfHour(database, 'change_row', hour, cut, stepRows);
  yield* dropOfHour(database, 'change_block', hour, cut, stepBlocks);
}

function* dropOfHour(database: HistoryDatabase, table: string, hour: number, cut: Cut, most: number): Steps {
  const next = database.database.prepare(
    `SELECT min(parameter) AS parameter FROM ${table} WHERE hour = ? AND parameter > ? AND ${isWithin('count', 'parameter')}`,
  );
  yield* dropEach(database, `${table} WHERE hour = ? AND parameter = ?`, [hour], cut, most, (last) => {
    const { parameter } = next.get(hour, last) as { parameter: number | null };
    return parameter ?? undefined;
  });
}

/** Deletes rows of the table `minute` or `hour`, in steps. */
export function* dropSpans(database: HistoryDatabase, table: SpanTable, cut: Cut): Steps {
  const next = database.database.prepare('SELECT min(id) AS parameter FROM parameter WHERE id > ?');
  yield* dropEach(database, `${table} WHERE parameter = ?`, [], cut, stepRows, (last) => {
    const { parameter } = next.get(last) as { parameter: number | null };
    return parameter ?? undefined;
  });
}

function* dropEach(
  database: HistoryDatabase,
  rows: string,
  key: readonly number[],
  cut: Cut,
  most: number,
  next: (last: number) => number | undefined,
): Steps {
  const nextTime = `SELECT time FROM ${rows} AND time >= ? AND ${isWithin('time', 'time')} ORDER BY time LIMIT 1 OFFSET ${most}`;
  const timeOfRow = database.database.prepare(nextTime);
  const drop = database.database.prepare(`DELETE FROM ${rows} AND time >= ? AND time < ?`);
  const stepParameters = Math.min(mostStepParameters, database.transactionPages);
  let parameter = next(0);
  let place = 0;
  while (parameter !== undefined) {
    database.write(() => {
      let deleted = 0;
      for (let looked = 0; parameter !== undefined && looked < stepParameters && deleted < most; looked++) {
        const one = cut(parameter)[place];
        if (one === undefined) {
          parameter = next(parameter);
          place = 0;
          continue;
        }
        const [from, to] = [finite(one.from), finite(one.to)];
        const last = timeOfRow.get(...key, parameter, from) as { time: number } | undefined;
        const isPart = last !== undefined && last.time + 1 < to;
        deleted += Number(drop.run(...key, parameter, from, isPart ? last.time + 1 : to).changes);
        if (!isPart) place++;
      }
    });
    yield;
  }
}

function finite(time: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(time, Number.MAX_SAFE_INTEGER));
}
