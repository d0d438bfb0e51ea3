// The local time of time zones. A zone's distance to UTC is asked for once in a quarter of an hour: it changes only there.

const quarterMs = 900_000;
/** How many zones are known at a time; there are about 600 in the world. */
const maxZones = 1000;

interface Zone {
  readonly format: Intl.DateTimeFormat;
  quarter: number;
  offsetMs: number;
}

const zones = new Map<string, Zone>();

/** The time zone of the machine. */
const ownZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** A date whose UTC fields are the local time of a zone; without a zone, of the machine. Errors: an unknown zone. */
export function localTime(timeMs: number, zoneName = ownZone): Date {
  const zone = zoneOf(zoneName);
  const quarter = Math.floor(timeMs / quarterMs);
  if (zone.quarter !== quarter) {
    zone.quarter = quarter;
    zone.offsetMs = offsetAt(zone.format, timeMs);
  }
  return new Date(timeMs + zone.offsetMs);
}

/** The names of all time zones. */
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
    zone = { format, quarter: Number.NaN, offsetMs: 0 };
    zones.set(name, zone);
  }
  return zone;
}

function offsetAt(format: Intl.DateTimeFormat, timeMs: number): number {
  const wholeMs = Math.floor(timeMs / 1000) * 1000;
  const parts: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(wholeMs)) parts[type] = Number(value);
  const { year, month, day, hour, minute, second } = parts;
  return Date.UTC(year!, month! - 1, day, hour, minute, second) - wholeMs;
}
