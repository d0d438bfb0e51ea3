// What is older than its rule says goes, hour by hour.

import type { Ages } from '../../../../model/time/age-clock.ts';
import { defaultTimes, type HistoryRule } from '../rules.ts';
import type { Interval } from '../segments.ts';
import { always, dropChanges, dropSpans, hoursOf } from './drop.ts';
import type { HistoryDatabase } from './history-database.ts';
import { readRules } from './rules-by-id.ts';

/** So many hours are looked at in one step. */
const stepHours = 1000;

/**
 * Deletes in steps what is too old. What was too old at the time `before`, and is there no more, is not looked for again; undefined: nothing
 * was looked at yet.
 */
export function* keepWithinTimes(
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
