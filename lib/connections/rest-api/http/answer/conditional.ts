// Conditional and range requests (RFC 9110 sections 13.1, 13.2 and 14).

import { readTimestamp } from '../../../../model/time/iso-time.ts';

export interface FileState {
  readonly bytes: number;
  readonly etag: string;
  readonly modified: Date;
}

export interface ConditionalHeaders {
  readonly range: string;
  readonly ifRange: string;
  readonly ifNoneMatch: string;
  readonly ifModifiedSince: string;
}

export interface ByteRange {
  readonly start: number;
  readonly length: number;
}

/** Whether the client already has the present state of the file. `If-None-Match` counts more than `If-Modified-Since`. */
export function isNotModified({ ifNoneMatch, ifModifiedSince }: ConditionalHeaders, file: FileState): boolean {
  if (ifNoneMatch !== '') return matchesTag(ifNoneMatch, file.etag);
  const since = readHttpDate(ifModifiedSince);
  return since !== undefined && seconds(file.modified) <= since;
}

/** Whether `If-None-Match` names a tag. */
export function matchesTag(ifNoneMatch: string, etag: string): boolean {
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}

/** The part that a client asks for; undefined: the whole file, since it names no range, several, or one of another state of the file. */
export function readRange(
  { range, ifRange }: ConditionalHeaders,
  file: FileState,
): ByteRange | 'unsatisfiable' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(range.trim());
  if (match === null || (match[1] === '' && match[2] === '')) return undefined;
  if (ifRange !== '' && ifRange !== file.etag && readHttpDate(ifRange) !== seconds(file.modified)) return undefined;
  const [, first, last] = match;
  if (first === '') {
    const length = Math.min(Number(last), file.bytes);
    return length === 0 ? 'unsatisfiable' : { start: file.bytes - length, length };
  }
  const start = Number(first);
  const end = last === '' ? file.bytes - 1 : Math.min(Number(last), file.bytes - 1);
  if (last !== '' && Number(last) < start) return undefined;
  return start >= file.bytes ? 'unsatisfiable' : { start, length: end - start + 1 };
}

/** HTTP dates have whole seconds. */
function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const clock = String.raw`(?<clock>(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)`;
const [date, month, year] = [
  String.raw`(?<date>[ 0-3]\d)`,
  `(?<month>${months.join('|')})`,
  String.raw`(?<year>\d{4})`,
];
/** The form of today, and the two of old (RFC 9110 section 5.6.7). */
const httpDates = [
  new RegExp(`^[MTWFS][a-z]{2}, ${date} ${month} ${year} ${clock} GMT$`),
  new RegExp(String.raw`^[MTWFS][a-z]{5,8}, ${date}-${month}-(?<year>\d\d) ${clock} GMT$`),
  new RegExp(`^[MTWFS][a-z]{2} ${month} ${date} ${clock} ${year}$`),
];

/** Reads a date as seconds since 1970; undefined: it is none, and a header that has it counts for nothing. */
function readHttpDate(text: string): number | undefined {
  const groups = httpDates.map((form) => form.exec(text)?.groups).find((found) => found !== undefined);
  if (groups === undefined) return undefined;
  const { date, month, clock } = groups as Record<'date' | 'month' | 'clock', string>;
  const day = `${wholeYear(groups.year!)}-${`${months.indexOf(month) + 1}`.padStart(2, '0')}-${date.replace(' ', '0')}`;
  const time = readTimestamp(`${day}T${clock}Z`);
  return time && time / 1000;
}

/** A year of two digits is at most 50 years ahead. */
function wholeYear(year: string): string {
  if (year.length === 4) return year;
  const century = new Date().getUTCFullYear() - (new Date().getUTCFullYear() % 100);
  const whole = century + Number(year);
  return String(whole > new Date().getUTCFullYear() + 50 ? whole - 100 : whole);
}
