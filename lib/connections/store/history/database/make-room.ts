// When the room is used up, the oldest goes: changes first, hour by hour, then minutes, at last a quarter of what there is.

import { dayMs } from '../../../../model/time/calendar-day.ts';
import { hourMs } from '../tables.ts';
import { dropChanges, dropSpans, hoursOf } from './drop.ts';
import type { HistoryDatabase, SpanTable } from './history-database.ts';

/** Minutes go before the changes of the present hour, but for those of one day. */
const keptMinutesMs = dayMs;

/** Deletes in steps; whoever needs room stops as soon as there is enough. */
export function* makeRoom(database: HistoryDatabase, now: number): Generator<void, void, void> {
  const present = Math.floor(now / hourMs);
  for (const hour of hoursOf(database)) {
    if (hour >= present) break;
    yield* dropChanges(database, hour, () => Number.POSITIVE_INFINITY);
  }
  if (oldestSpan(database, 'minute') < now - keptMinutesMs) yield* dropQuarterOfSpans(database, 'minute', now);
  for (const hour of hoursOf(database)) {
    const cut = quarterAfter(oldestChange(database, hour), now);
    yield* dropChanges(database, hour, () => cut);
  }
  yield* dropQuarterOfSpans(database, 'minute', now);
  yield* dropQuarterOfSpans(database, 'hour', now);
}

function* dropQuarterOfSpans(database: HistoryDatabase, table: SpanTable, now: number): Generator<void, void, void> {
  const cut = quarterAfter(oldestSpan(database, table), now);
  yield* dropSpans(database, table, () => cut);
}

function quarterAfter(oldest: number, now: number): number {
  return oldest + Math.max(1, (now - oldest) / 4);
}

function oldestChange({ database }: HistoryDatabase, hour: number): number {
  const { time } = database
    .prepare('SELECT min((SELECT min(time) FROM change WHERE hour = ? AND parameter = id)) AS time FROM parameter')
    .get(hour) as { time: number | null };
  return time ?? Number.POSITIVE_INFINITY;
}

function oldestSpan({ database }: HistoryDatabase, table: SpanTable): number {
  const { time } = database
    .prepare(`SELECT min((SELECT min(time) FROM ${table} WHERE parameter = id)) AS time FROM parameter`)
    .get() as { time: number | null };
  return time ?? Number.POSITIVE_INFINITY;
}
