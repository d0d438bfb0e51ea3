// Deletes old rows in small transactions, one for each step of a generator, so that what comes new never waits for long.

import type { HistoryDatabase, SpanTable } from './history-database.ts';

/** How many rows one step deletes at most, about. */
const stepRows = 5000;
/** How many parameters one step looks at at most. */
const mostStepParameters = 500;

type Steps = Generator<void, void, void>;

/** Which rows go: those of a parameter before the time that this gives; -Infinity: none. */
export type Cut = (parameter: number) => number;

/** The hours of which there are changes, oldest first; it may be deleted meanwhile. */
export function* hoursOf({ database }: HistoryDatabase): Generator<number, void, void> {
  const next = database.prepare('SELECT min(hour) AS hour FROM change WHERE hour > ?');
  let hour: number | null = -1;
  for (;;) {
    ({ hour } = next.get(hour) as { hour: number | null });
    if (hour === null) return;
    yield hour;
  }
}

/** Deletes changes of one hour. */
export function* dropChanges(database: HistoryDatabase, hour: number, cut: Cut): Steps {
  const next = database.database.prepare(
    'SELECT min(parameter) AS parameter FROM change WHERE hour = ? AND parameter > ?',
  );
  yield* dropEach(database, 'change WHERE hour = ? AND parameter = ?', [hour], cut, (last) => {
    const { parameter } = next.get(hour, last) as { parameter: number | null };
    return parameter ?? undefined;
  });
}

/** Deletes rows of spans. */
export function* dropSpans(database: HistoryDatabase, table: SpanTable, cut: Cut): Steps {
  const next = database.database.prepare('SELECT min(id) AS parameter FROM parameter WHERE id > ?');
  yield* dropEach(database, `${table} WHERE parameter = ?`, [], cut, (last) => {
    const { parameter } = next.get(last) as { parameter: number | null };
    return parameter ?? undefined;
  });
}

function* dropEach(
  database: HistoryDatabase,
  rows: string,
  key: readonly number[],
  cut: Cut,
  next: (last: number) => number | undefined,
): Steps {
  const timeOfRow = database.database.prepare(`SELECT time FROM ${rows} ORDER BY time LIMIT 1 OFFSET ${stepRows}`);
  const drop = database.database.prepare(`DELETE FROM ${rows} AND time < ?`);
  const stepParameters = Math.min(mostStepParameters, database.transactionPages);
  let parameter = next(0);
  while (parameter !== undefined) {
    database.write(() => {
      let deleted = 0;
      for (let looked = 0; parameter !== undefined && looked < stepParameters && deleted < stepRows; looked++) {
        const before = cut(parameter);
        const last = timeOfRow.get(...key, parameter) as { time: number } | undefined;
        const isPart = last !== undefined && last.time + 1 < before;
        deleted += Number(drop.run(...key, parameter, isPart ? last.time + 1 : finite(before)).changes);
        if (!isPart) parameter = next(parameter);
      }
    });
    yield;
  }
}

function finite(time: number): number {
  return Math.max(0, Math.min(time, Number.MAX_SAFE_INTEGER));
}
