// Local times in time zones, and the moments that they denote. The UTC offset of a zone is looked up once per quarter of an hour, because
// offsets change only at quarters.

import { dayMs } from './iso-time.ts';

const quarterMs = 900_000;
/** The maximum number of cached zones. There are about 600 zones in the world. */
const maxZones = 1000;
/** The maximum number of days per zone with a cached UTC offset. */
const maxDays = 100;

interface Zone {
  readonly format: Intl.DateTimeFormat;
  quarter: number;
  offsetMs: number;
  /** The zone's UTC offset at midnight UTC of a day, in milliseconds, keyed by the number of days since 1970. */
  readonly offsets: Map<number, number>;
}

const zones = new Map<string, Zone>();

/** Returns a date whose UTC fields are the local time in a zone, by default the machine's zone. Throws if the zone is unknown. */
export function localTime(timeMs: number, zoneName = ownZone()): Date {
  const zone = zoneOf(zoneName);
  const quarter = Math.floor(timeMs / quarterMs);
  if (zone.quarter !== quarter) {
    zone.quarter = quarter;
    zone.offsetMs = offsetAt(zone.format, timeMs);
  }
  return new Date(timeMs + zone.offsetMs);
}

/**
 * Returns the moment at which clocks in a zone show a local time. `localMs` has the same form as the result of `localTime`: milliseconds
 * whose UTC fields are the local fields. For a time that occurs twice, returns the first moment; for a skipped time, the moment of the
 * shift. Throws if the zone is unknown.
 */
export function momentOf(localMs: number, zoneName: string): number {
  const zone = zoneOf(zoneName);
  const { format } = zone;
  const day = Math.floor(localMs / dayMs);
  const before = localMs - offsetOfDay(zone, day - 1);
  const after = localMs - offsetOfDay(zone, day + 2);
  if (before === after) return before;
  const isShown = (momentMs: number) => momentMs + offsetAt(format, momentMs) === localMs;
  const first = Math.min(before, after);
  const last = Math.max(before, after);
  if (isShown(first)) return first;
  return isShown(last) ? last : shiftBetween(format, first, last);
}

/** Returns a zone's UTC offset at midnight UTC on a day, in milliseconds. `day` counts days since 1970. */
function offsetOfDay({ format, offsets }: Zone, day: number): number {
  let offsetMs = offsets.get(day);
  if (offsetMs === undefined) {
    if (offsets.size >= maxDays) offsets.clear();
    offsetMs = offsetAt(format, day * dayMs);
    offsets.set(day, offsetMs);
  }
  return offsetMs;
}

/** Returns the moment, to the second, at which a zone's UTC offset changes within a period. */
function shiftBetween(format: Intl.DateTimeFormat, fromMs: number, untilMs: number): number {
  const offsetMs = offsetAt(format, untilMs);
  let [low, high] = [Math.floor(fromMs / 1000), Math.ceil(untilMs / 1000)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(format, middle * 1000) === offsetMs) high = middle;
    else low = middle + 1;
  }
  return high * 1000;
}

let knownOwnZone: string | undefined;

/** Returns the machine's time zone. The first call takes several milliseconds. */
function ownZone(): string {
  knownOwnZone ??= new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return knownOwnZone;
}

/** Returns the names of all time zones that are known. */
export function zoneNames(): string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone')];
}

export function isZone(name: string): boolean {
  try {
    zoneOf(name);
    return true;
  } catch {
    return false;
  }
}

function zoneOf(name: string): Zone {
  let zone = zones.get(name);
  if (zone === undefined) {
    if (zones.size >= maxZones) zones.clear();
    const fields = {
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    } as const;
    const format = new Intl.DateTimeFormat('en-US', {
      ...fields,
      timeZone: name,
      hourCycle: 'h23',
      calendar: 'gregory',
    });
    zone = { format, quarter: Number.NaN, offsetMs: 0, offsets: new Map() };
    zones.set(name, zone);
  }
  return zone;
}

/**
 * The beginning of the year 1700, before which clocks show local mean time. `Date.UTC` would treat a year below 100 as a year in the 20th
 * century.
 */
const firstZoneMs = Date.UTC(1700, 0, 1);

function offsetAt(format: Intl.DateTimeFormat, timeMs: number): number {
  const wholeMs = Math.floor(Math.max(timeMs, firstZoneMs) / 1000) * 1000;
  const parts: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(wholeMs)) parts[type] = Number(value);
  const { year, month, day, hour, minute, second } = parts;
  return Date.UTC(year!, month! - 1, day, hour, minute, second) - wholeMs;
}
