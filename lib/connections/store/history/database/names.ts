// Parameters, writers and gaps are a few bytes each, but a hub that runs for years meets ever more of them. So those go, now and then,
// that no row names any more, and the oldest gaps.

import { dayMs } from '../../../../model/time/iso-time.ts';
import { isWithin, readRows } from '../../thread/database/read-rows.ts';
import { hoursOf } from './drop.ts';
import type { HistoryDatabase } from './history-database.ts';

/** Where there are no more parameters and no more writers than so many, it is not worth to look for those that nobody names. */
export const usualNames = 10_000;
/** So many gaps are kept, the newest: more than a question looks at. */
export const keptGaps = 10_000;
/** How many rows one step deletes, and of how many parameters it reads changes. */
const stepRows = 500;
const stepParameters = 50;

type Steps = Generator<void, void, void>;

/** Drops in steps, the names once a day. `isOpen` tells whether more is to be written of a parameter. */
export function* dropUnnamed(
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
}

/** Reads which names changes have, hour by hour and parameter by parameter. */
function* readNames(history: HistoryDatabase, named: Record<'parameter' | 'writer', Set<number>>): Steps {
  const { database } = history;
  const next = database.prepare(
    `SELECT min(parameter) AS parameter FROM change WHERE hour = ? AND parameter > ? AND ${isWithin('count', 'parameter')}`,
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
