// What the thread had in its memory when it ended, minutes and hours that were not over, is put together again: minutes from the
// changes, hours from the minutes that are written and from the changes after them.

import { isWithin } from '../../thread/database/read-rows.ts';
import { hourMs, minuteMs } from '../tables.ts';
import type { HistoryDatabase, Mark } from './history-database.ts';
import type { RuleSpans } from './rule-spans.ts';
import type { SpanRow } from './spans.ts';

/** `spansOf` gives the spans of a parameter, by its key. Changes before `first` were counted before the clock has jumped. */
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
    .iterate(hours, minutes) as Iterable<Record<keyof SpanRow, number | null>>;
  for (const row of written) {
    const known = Object.fromEntries(Object.entries(row).map(([key, value]) => [key, value ?? undefined]));
    spansOf(row.parameter!)?.hours?.addRow(known as unknown as SpanRow, minuteMs);
  }
  const held = database.prepare('SELECT last FROM minute WHERE parameter = ? AND time < ? ORDER BY time DESC LIMIT 1');
  const changes = database
    .prepare(
      `SELECT parameter, time, CASE typeof(value) WHEN 'integer' THEN CAST(value AS REAL) ELSE value END AS value FROM change
       WHERE hour >= ? AND time >= ? AND revision >= ? AND ${isWithin('count', 'parameter')} AND ${isWithin('time', 'time')}
       ORDER BY hour, parameter, time, revision`,
    )
    .iterate(Math.floor(minutes / hourMs), minutes, Math.max(first, Number.MIN_SAFE_INTEGER)) as Iterable<{
    parameter: number;
    time: number;
    value: unknown;
  }>;
  for (const { parameter, time, value } of changes) {
    const spans = spansOf(parameter);
    if (spans === undefined) continue;
    if (spans.minutes !== undefined && !spans.minutes.has(parameter)) {
      const { last } = (held.get(parameter, minutes) ?? { last: null }) as { last: number | null };
      if (last !== null) spans.minutes.begin(parameter, minutes, last);
    }
    spans.add(parameter, time, Number.isFinite(value) ? (value as number) : Number.NaN);
  }
}
