// Functions of the time, by the clock of the hub, which in a test stands still until it is moved. CEL's own points in time have
// methods that take what `timestamp` gives.

import { describe } from '../../model/error.ts';
import { dayMs } from '../../model/time/calendar-day.ts';
import { readTimestamp } from '../../model/time/iso-time.ts';
import { localTime } from '../../model/time/zone-time.ts';
import { define, type FunctionType } from './function-type.ts';

const pointInTime = 'google.protobuf.Timestamp';

export const timeFunctions: readonly FunctionType[] = [
  ofNow('hour', 'the hour, 0 to 23', 'double', (date) => date.getUTCHours()),
  ofNow('minute', 'the minute, 0 to 59', 'double', (date) => date.getUTCMinutes()),
  ofNow('second', 'the second, 0 to 59', 'double', (date) => date.getUTCSeconds()),
  ofNow('weekday', 'the day of the week, 1 is Monday and 7 is Sunday', 'double', (date) => date.getUTCDay() || 7),
  ofNow('date', 'the date as text: "2026-12-24"', 'string', (date) => date.toISOString().slice(0, 10)),
];

/** What CEL has for points in time. The numbers are those of CEL: months, and days of the week and year, start from 0. */
export const pointInTimeFunctions: readonly FunctionType[] = [
  define(['timestamp(seconds)', 'timestamp(text)'], 'a point in time', {
    [`double: ${pointInTime}`]: (seconds: number) => dateOf(seconds * 1000, seconds),
    [`string: ${pointInTime}`]: (text: string) => dateOf(readTimestamp(text), text),
  }),
  ofPoint('getFullYear', (date) => date.getUTCFullYear()),
  ofPoint('getMonth', (date) => date.getUTCMonth()),
  ofPoint('getDate', (date) => date.getUTCDate()),
  ofPoint('getDayOfMonth', (date) => date.getUTCDate() - 1),
  ofPoint('getDayOfWeek', (date) => date.getUTCDay()),
  ofPoint('getDayOfYear', (date) => Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / dayMs)),
  ofPoint('getHours', (date) => date.getUTCHours()),
  ofPoint('getMinutes', (date) => date.getUTCMinutes()),
  ofPoint('getSeconds', (date) => date.getUTCSeconds()),
  ofPoint('getMilliseconds', (date) => date.getUTCMilliseconds()),
];

/** The time zone is checked at load: it has to be a text that stands in the expression. */
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

function ofPoint(name: string, read: (date: Date) => number): FunctionType {
  return define([`${name}(time)`, `${name}(time, 'Europe/Berlin')`], '', {
    [`${pointInTime}: double`]: read,
    [`${pointInTime}, string: double`]: (date: Date, zone: string) => read(localTime(date.getTime(), zone)),
  });
}

/** Points in time are those of the years 1 to 9999. */
const firstMs = Date.parse('0001-01-01T00:00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

export const pointInTimeForm = 'a point in time such as "2026-11-22T03:00:00Z"';

/** Whether `timestamp` reads a text. */
export function isPointInTime(text: string): boolean {
  const timeMs = readTimestamp(text);
  return timeMs !== undefined && timeMs >= firstMs && timeMs <= lastMs;
}

/** Errors: it is none. */
function dateOf(timeMs: number | undefined, input: unknown): Date {
  if (timeMs !== undefined && timeMs >= firstMs && timeMs <= lastMs) return new Date(timeMs);
  throw new Error(`timestamp: expected ${pointInTimeForm}, got ${describe(input)}`);
}
