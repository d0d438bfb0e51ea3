// When an entry opens, closes or fires. Times are moments, in milliseconds since 1970.

import { dayMs } from '../../model/time/iso-time.ts';
import { localTime, momentOf } from '../../model/time/zone-time.ts';
import type { IsDay } from './days.ts';
import type { EntrySettings } from './settings.ts';

/** How far ahead an entry looks for its next moment. */
const aheadDays = 8;
/** When to look again for an entry that has found none. */
export const lookAgainMs = (aheadDays - 1) * dayMs;

export interface Entry {
  /** Whether it is open; left out: it is a trigger. */
  isOpenAt?(timeMs: number): boolean;
  /** The first moment after another one at which it opens, closes or fires; Infinity: none within the next week. */
  nextAfter(timeMs: number): number;
}

export function createEntry(settings: EntrySettings, zone: string): Entry {
  const isDay = dayTest(settings);
  return settings.at === undefined ? createOpening(settings, isDay, zone) : createFiring(settings.at, isDay, zone);
}

function createFiring(times: readonly number[], isDay: IsDay, zone: string): Entry {
  const firstAfter = (day: number, timeMs: number): number => {
    let [low, high] = [0, times.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (momentOf(day * dayMs + times[middle]!, zone) > timeMs) high = middle;
      else low = middle + 1;
    }
    return low === times.length ? Infinity : momentOf(day * dayMs + times[low]!, zone);
  };
  return { nextAfter: (timeMs) => search(timeMs, zone, 0, (day) => (isDay(day) ? firstAfter(day, timeMs) : Infinity)) };
}

function createOpening({ from = 0, to = dayMs }: EntrySettings, isDay: IsDay, zone: string): Entry {
  const length = to > from ? to - from : to - from + dayMs;
  const opens = (day: number) => momentOf(day * dayMs + from, zone);
  const closes = (day: number) => momentOf(day * dayMs + from + length, zone);
  return {
    isOpenAt(timeMs) {
      const today = dayAt(timeMs, zone);
      // one that has begun the day before, or that began before the clocks went back over midnight
      return [-1, 0, 1].some((more) => {
        const day = today + more;
        return isDay(day) && opens(day) <= timeMs && timeMs < closes(day);
      });
    },
    nextAfter: (timeMs) =>
      search(timeMs, zone, -1, (day) => {
        if (!isDay(day)) return Infinity;
        const opensAt = opens(day);
        const closesAt = closes(day);
        if (opensAt > timeMs) return opensAt;
        return closesAt > timeMs ? closesAt : Infinity;
      }),
  };
}

/** The first of the moments of days from today plus `more` on. No day after tomorrow has one before those that are found by then. */
function search(timeMs: number, zone: string, more: number, momentOn: (day: number) => number): number {
  const today = dayAt(timeMs, zone);
  let least = Infinity;
  for (let day = today + more; day <= today + aheadDays; day++) {
    least = Math.min(least, momentOn(day));
    if (least < Infinity && day > today) return least;
  }
  return least;
}

function dayTest({ days, dates, except }: EntrySettings): IsDay {
  const isMeant: IsDay =
    days === undefined && dates === undefined
      ? () => true
      : (day) => (days?.(day) ?? false) || (dates?.some((isDate) => isDate(day)) ?? false);
  return (day) => isMeant(day) && !except.some((isDate) => isDate(day));
}

function dayAt(timeMs: number, zone: string): number {
  return Math.floor(localTime(timeMs, zone).getTime() / dayMs);
}
