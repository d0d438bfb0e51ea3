// What is older than its rule says goes, hour by hour.

import { defaultTimes, type HistoryRule } from '../rules.ts';
import { hourMs } from '../tables.ts';
import { dropChanges, dropSpans, hoursOf } from './drop.ts';
import type { HistoryDatabase } from './history-database.ts';
import { readRules } from './rules-by-id.ts';

/** Deletes in steps what is too old now, and was not at the time before; -Infinity: nothing was looked at yet. */
export function* keepWithinTimes(
  database: HistoryDatabase,
  rules: readonly HistoryRule[],
  before: number,
  now: number,
): Generator<void, void, void> {
  const ruleOf = readRules(database, rules);
  const timesOf = (parameter: number) => rules[ruleOf(parameter) ?? -1] ?? defaultTimes;
  const all = [...rules, defaultTimes];
  for (const hour of hoursOf(database)) {
    const end = (hour + 1) * hourMs;
    if (all.every(({ rawMs }) => end > now - rawMs)) break;
    if (all.every(({ rawMs }) => end > now - rawMs || end <= before - rawMs)) continue;
    yield* dropChanges(database, hour, (parameter) => (end <= now - timesOf(parameter).rawMs ? end : 0));
  }
  yield* dropSpans(database, 'minute', (parameter) => now - timesOf(parameter).minutesMs);
  yield* dropSpans(database, 'hour', (parameter) => now - timesOf(parameter).hoursMs);
}
