// Counts changes per hour or per other rounded period, so that users see when values changed and can go to that time with one click.

import type { History } from '../../../wire/http/past-shapes.ts';
import { dayMs, hourMs, minuteMs, type TimeRange } from '../time/timeframe.ts';

export interface Slot extends TimeRange {
  /** The number of changes or firings in the slot. */
  readonly count: number;
  /** The index of the slot within its day, or among all slots if a slot is a day or longer. Slots with round indexes have labels. */
  readonly place: number;
}

const stepsMs = [
  ...[1000, 5000, 10_000, 30_000],
  ...[1, 5, 10, 30].map((minutes) => minutes * minuteMs),
  ...[1, 3, 6].map((hours) => hours * hourMs),
  ...[1, 7, 30, 365].map((days) => days * dayMs),
];

/** Divides a range of time at round local times into at most `most` slots, and counts the changes in each slot. */
export function slotsOf(range: TimeRange, history: History | undefined, most: number): Slot[] {
  const spanMs = range.to - range.from;
  const stepMs = stepsMs.find((step) => spanMs / step <= Math.max(1, most - 1)) ?? stepsMs.at(-1)!;
  const edges = [floorOf(range.from, stepMs)];
  while (edges.at(-1)! < range.to) edges.push(nextOf(edges.at(-1)!, stepMs));
  const counts = new Array<number>(Math.max(0, edges.length - 1)).fill(0);
  let slot = 0;
  for (const [index, time] of (history?.times ?? []).entries()) {
    if (time < edges[0]!) continue;
    while (slot < counts.length && time >= edges[slot + 1]!) slot++;
    if (slot < counts.length) counts[slot]! += countOf(history!, index);
  }
  return counts.map((count, index) => {
    const from = edges[index]!;
    const place = stepMs < dayMs ? Math.round((from - floorOf(from, dayMs)) / stepMs) : index;
    return { from, to: edges[index + 1]!, count, place };
  });
}

/**
 * Returns the number of changes in a history. The first raw value is not a change, because it already held before, and neither is a
 * transition to unknown.
 */
function countOf({ counts, kind, values, times, from }: History, index: number): number {
  if (counts) return counts[index]!;
  return kind === 'fires' || (times[index]! >= from && values?.[index] !== null) ? 1 : 0;
}

function floorOf(time: number, stepMs: number): number {
  if (stepMs >= dayMs) return new Date(time).setHours(0, 0, 0, 0);
  const offsetMs = new Date(time).getTimezoneOffset() * minuteMs;
  return Math.floor((time - offsetMs) / stepMs) * stepMs + offsetMs;
}

/**
 * Returns the start of the slot after the slot that starts at `time`. Days on which daylight saving time starts or ends have a different
 * length.
 */
function nextOf(time: number, stepMs: number): number {
  if (stepMs < dayMs) return time + stepMs;
  const date = new Date(time);
  return date.setDate(date.getDate() + Math.round(stepMs / dayMs));
}
