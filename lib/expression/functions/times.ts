// Time functions, which use the hub's clock or the virtual clock of a test, and CEL's timestamps and durations with their methods.

import { fixedText } from '../../model/digits.ts';
import { describe } from '../../model/error.ts';
import { dayMs, readTimestamp } from '../../model/time/iso-time.ts';
import { isZone, localTime } from '../../model/time/zone-time.ts';
import { define, type FunctionType } from './function-type.ts';

/** A point in time within the years 1 to 9999, with millisecond precision. */
export class PointInTime {
  readonly ms: number;

  constructor(ms: number) {
    if (!(ms >= firstMs && ms <= lastMs))
      throw new Error('expected a time in the years 1 to 9999, got a time outside this range');
    this.ms = Math.trunc(ms);
  }
}

/** A duration of at most 292 years, as in CEL. */
export class TimeSpan {
  readonly ms: number;

  constructor(ms: number) {
    if (!(Math.abs(ms) <= longestMs))
      throw new Error('expected a duration of at most 292 years, got a longer duration');
    this.ms = ms;
  }
}

const firstMs = Date.parse('0001-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');
const longestMs = 2 ** 63 / 1e6;

/** The CEL type name of a point in time. */
export const pointInTime = 'patchbay.Timestamp';
/** The CEL type name of a duration. */
export const timeSpan = 'patchbay.Duration';

/** The operators on points in time and durations, keyed by their CEL signature. */
export const timeOperators: readonly (readonly [signature: string, compute: (a: Timed, b: Timed) => unknown])[] = [
  [`${pointInTime} - ${pointInTime}: ${timeSpan}`, (a, b) => new TimeSpan(a.ms - b.ms)],
  [`${pointInTime} - ${timeSpan}: ${pointInTime}`, (a, b) => new PointInTime(a.ms - b.ms)],
  [`${pointInTime} + ${timeSpan}: ${pointInTime}`, (a, b) => new PointInTime(a.ms + b.ms)],
  [`${timeSpan} + ${pointInTime}: ${pointInTime}`, (a, b) => new PointInTime(a.ms + b.ms)],
  [`${timeSpan} + ${timeSpan}: ${timeSpan}`, (a, b) => new TimeSpan(a.ms + b.ms)],
  [`${timeSpan} - ${timeSpan}: ${timeSpan}`, (a, b) => new TimeSpan(a.ms - b.ms)],
  ...[pointInTime, timeSpan].flatMap((type): [string, (a: Timed, b: Timed) => boolean][] => [
    [`${type} == ${type}`, (a, b) => a.ms === b.ms],
    [`${type} < ${type}`, (a, b) => a.ms < b.ms],
    [`${type} <= ${type}`, (a, b) => a.ms <= b.ms],
    [`${type} > ${type}`, (a, b) => a.ms > b.ms],
    [`${type} >= ${type}`, (a, b) => a.ms >= b.ms],
  ]),
];

type Timed = PointInTime | TimeSpan;

export const timeFunctions: readonly FunctionType[] = [
  ofNow('hour', 'the hour, 0 to 23', 'double', (date) => date.getUTCHours()),
  ofNow('minute', 'the minute, 0 to 59', 'double', (date) => date.getUTCMinutes()),
  ofNow('second', 'the second, 0 to 59', 'double', (date) => date.getUTCSeconds()),
  ofNow('weekday', 'the day of the week, 1 is Monday and 7 is Sunday', 'double', (date) => date.getUTCDay() || 7),
  ofNow('date', 'the date as text: "2026-12-24"', 'string', (date) => date.toISOString().slice(0, 10)),
];

/** CEL's functions for points in time and durations. As in CEL, months, days of the week and days of the year are counted from 0. */
export const pointInTimeFunctions: readonly FunctionType[] = [
  define(['timestamp(seconds)', 'timestamp(text)'], 'a point in time', {
    [`double: ${pointInTime}`]: (seconds: number) => new PointInTime(seconds * 1000),
    [`string: ${pointInTime}`]: (text: string) => new PointInTime(readOr(readTimestamp, text, pointInTimeForm)),
    [`${pointInTime}: ${pointInTime}`]: (time: PointInTime) => time,
  }),
  define(['duration(text)'], 'a duration', {
    [`string: ${timeSpan}`]: (text: string) => new TimeSpan(readOr(readTimeSpan, text, timeSpanForm)),
    [`${timeSpan}: ${timeSpan}`]: (span: TimeSpan) => span,
  }),
  ofPoint('getFullYear', (date) => date.getUTCFullYear()),
  ofPoint('getMonth', (date) => date.getUTCMonth()),
  ofPoint('getDate', (date) => date.getUTCDate()),
  ofPoint('getDayOfMonth', (date) => date.getUTCDate() - 1),
  ofPoint('getDayOfWeek', (date) => date.getUTCDay()),
  ofPoint('getDayOfYear', (date) => Math.floor((date.getTime() - yearOf(date)) / dayMs)),
  ofPoint(
    'getHours',
    (date) => date.getUTCHours(),
    (ms) => ms / 3_600_000,
  ),
  ofPoint(
    'getMinutes',
    (date) => date.getUTCMinutes(),
    (ms) => ms / 60_000,
  ),
  ofPoint(
    'getSeconds',
    (date) => date.getUTCSeconds(),
    (ms) => ms / 1000,
  ),
  ofPoint(
    'getMilliseconds',
    (date) => date.getUTCMilliseconds(),
    (ms) => ms % 1000,
  ),
];

/** Conversions of points in time and durations to `2026-11-22T03:00:00.5Z`, `90.5s`, and whole seconds since 1970. */
export const timeConversions = {
  textOfPoint: ({ ms }: PointInTime) => new Date(ms).toISOString().replace(/\.?0*Z$/, 'Z'),
  textOfSpan: ({ ms }: TimeSpan) => `${fixedText(ms / 1000, 9).replace(/\.?0*$/, '')}s`,
  secondsOfPoint: ({ ms }: PointInTime) => Math.floor(ms / 1000),
};

export const pointInTimeForm = 'a point in time such as "2026-11-22T03:00:00Z"';
export const timeSpanForm = 'a duration such as "1h30m" or "1.5s"';

/** Returns whether `timestamp` accepts a string as a point in time. */
export function isPointInTime(text: string): boolean {
  const ms = readTimestamp(text);
  return ms !== undefined && ms >= firstMs && ms <= lastMs;
}

/** Returns whether `duration` accepts a string as a duration. */
export function isTimeSpan(text: string): boolean {
  const ms = readTimeSpan(text);
  return ms !== undefined && Math.abs(ms) <= longestMs;
}

/**
 * Defines a function of the current time, which accepts a time zone. The zone must be a string literal, which is checked when the file is
 * loaded.
 */
function ofNow(name: string, summary: string, gives: string, read: (date: Date) => unknown): FunctionType {
  const compute = (now: number, zone?: string) => read(localTime(now, zone));
  return {
    name,
    usages: [`${name}()`, `${name}('Europe/Berlin')`],
    summary,
    readsNow: true,
    overloads: [
      { takes: ['double'], gives, compute },
      { takes: ['double', 'string'], gives, compute },
    ],
  };
}

/**
 * Defines a function of a point in time or a duration. `ofSpan` converts the milliseconds in a duration to the unit; the fraction is
 * dropped.
 */
function ofPoint(name: string, read: (date: Date) => number, ofSpan?: (ms: number) => number): FunctionType {
  return define([`${name}(time)`, `${name}(time, 'Europe/Berlin')`], '', {
    [`${pointInTime}: double`]: ({ ms }: PointInTime) => read(new Date(ms)),
    [`${pointInTime}, string: double`]: ({ ms }: PointInTime, zone: string) => read(timeIn(zone, ms)),
    ...(ofSpan && { [`${timeSpan}: double`]: ({ ms }: TimeSpan) => Math.trunc(ofSpan(ms)) + 0 }),
  });
}

/**
 * Returns a date whose UTC fields are the time in a zone. The zone is a name or a UTC offset: `Europe/Berlin`, `+02:00`, `02:00`. Throws if
 * there is no such zone.
 */
function timeIn(zone: string, ms: number): Date {
  const [, sign, hours, minutes] = /^([+-]?)([01]\d|2[0-3]):([0-5]\d)$/.exec(zone) ?? [];
  if (hours !== undefined)
    return new Date(ms + (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60_000 : 60_000));
  if (isZone(zone)) return localTime(ms, zone);
  throw new Error(`expected a time zone such as Europe/Berlin or +02:00, got ${describe(zone)}`);
}

/** Returns the start of the year that contains a date. `Date.UTC` would move a year before 100 to the 20th century. */
function yearOf(date: Date): number {
  return new Date(0).setUTCFullYear(date.getUTCFullYear(), 0, 1);
}

const unitMs: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
};
const spanPart = /(\d+\.?\d*|\.\d+)(h|ms|m|s|us|µs|ns)/g;

/** Parses `-1h30m`, `1.5s` or `0` as milliseconds. Returns undefined if the string is not a duration. */
function readTimeSpan(text: string): number | undefined {
  const [, sign, parts = ''] = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:h|ms|m|s|us|µs|ns))+|0)$/.exec(text) ?? [];
  if (parts === '') return undefined;
  let ms = 0;
  for (const [, amount, unit] of parts.matchAll(spanPart)) ms += Number(amount) * unitMs[unit!]!;
  return sign === '-' ? -ms + 0 : ms;
}

/** Returns the result of parsing a string. Throws if the string does not have the expected form. */
function readOr(read: (text: string) => number | undefined, text: string, form: string): number {
  const ms = read(text);
  if (ms !== undefined) return ms;
  throw new Error(`${form === timeSpanForm ? 'duration' : 'timestamp'}: expected ${form}, got ${describe(text)}`);
}
