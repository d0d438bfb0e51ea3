// Conditional and range requests (RFC 9110 sections 13.1, 13.2 and 14).

import { HubError } from '../../../../model/error.ts';
import { readTimestamp } from '../../../../model/time/iso-time.ts';
import type { HttpRequest } from '../../../../net/uws.ts';
import { joinedHeaders } from '../../input/parse-input.ts';

export interface FileState {
  readonly bytes: number;
  readonly etag: string;
  readonly modified: Date;
}

/** The headers with the preconditions of a request; a missing header is an empty string. */
export interface Preconditions {
  readonly ifMatch: string;
  readonly ifUnmodifiedSince: string;
  readonly ifNoneMatch: string;
  readonly ifModifiedSince: string;
}

export interface RangeHeaders {
  readonly range: string;
  readonly ifRange: string;
}

export interface ByteRange {
  readonly start: number;
  readonly length: number;
}

export function preconditionsOf(request: HttpRequest): Preconditions {
  const names = ['if-match', 'if-unmodified-since', 'if-none-match', 'if-modified-since'] as const;
  const [ifMatch = '', ifUnmodifiedSince = '', ifNoneMatch = '', ifModifiedSince = ''] = joinedHeaders(
    request,
    ...names,
  );
  return { ifMatch, ifUnmodifiedSince, ifNoneMatch, ifModifiedSince };
}

/**
 * Returns whether the client of a GET or HEAD already has the current state. The headers are evaluated in the order of RFC 9110 section
 * 13.2.2: headers with times count only if there are no headers with tags. Errors: `precondition-failed` if the client requires a state
 * other than the current one.
 */
export function isNotModified(wanted: Preconditions, { etag, modified }: Pick<FileState, 'etag'> & Partial<FileState>) {
  const at = modified && seconds(modified);
  if (wanted.ifMatch !== '') {
    if (!namesTag(wanted.ifMatch, etag)) throw failed('If-Match', etag, wanted.ifMatch);
  } else if (at !== undefined && at > (readHttpDate(wanted.ifUnmodifiedSince) ?? at))
    throw failed('If-Unmodified-Since', `a time no earlier than ${modified!.toUTCString()}`, wanted.ifUnmodifiedSince);
  if (wanted.ifNoneMatch !== '') return namesTag(wanted.ifNoneMatch, etag, true);
  const since = readHttpDate(wanted.ifModifiedSince);
  return at !== undefined && since !== undefined && at <= since;
}

/** Checks that a request whose answer has no ETag does not require one. Errors: `precondition-failed`. */
export function expectNoTag(request: HttpRequest): void {
  if (request.getHeader('if-match') === '') return;
  const [ifMatch = ''] = joinedHeaders(request, 'if-match');
  if (!namesTag(ifMatch, undefined)) throw failed('If-Match', '*, because this resource has no ETag', ifMatch);
}

function failed(header: string, expected: string, got: string): HubError {
  return new HubError('precondition-failed', `${header}: expected ${expected}, got ${got.slice(0, longestReported)}`);
}

const longestReported = 200;

/** Matches one ETag, which may contain commas (RFC 9110 section 8.8.3), or `*` for any state. */
const tags = /(W\/)?("[^"]*")|\*/g;

/** Returns whether a list of ETags contains a tag or `*`. With `isWeak`, tags are compared weakly (RFC 9110 section 8.8.3.2). */
function namesTag(list: string, etag: string | undefined, isWeak = false): boolean {
  for (const [whole, weak, tag] of list.matchAll(tags))
    if (whole === '*' || (tag === etag && (isWeak || weak === undefined))) return true;
  return false;
}

/**
 * Returns the requested range of a file. Undefined stands for the whole file: the client requests no range, several ranges, or a range in
 * another version of the file.
 */
export function readRange({ range, ifRange }: RangeHeaders, file: FileState): ByteRange | 'unsatisfiable' | undefined {
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

/** Returns whole seconds since 1970, the resolution of HTTP dates. */
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
/** The current form of HTTP dates and the two obsolete forms (RFC 9110 section 5.6.7). */
const httpDates = [
  new RegExp(`^[MTWFS][a-z]{2}, ${date} ${month} ${year} ${clock} GMT$`),
  new RegExp(String.raw`^[MTWFS][a-z]{5,8}, ${date}-${month}-(?<year>\d\d) ${clock} GMT$`),
  new RegExp(`^[MTWFS][a-z]{2} ${month} ${date} ${clock} ${year}$`),
];

/** Parses an HTTP date and returns seconds since 1970. Returns undefined for an invalid date, whose header is to be ignored. */
function readHttpDate(text: string): number | undefined {
  const groups = httpDates.map((form) => form.exec(text)?.groups).find((found) => found !== undefined);
  if (groups === undefined) return undefined;
  const { date, month, clock } = groups as Record<'date' | 'month' | 'clock', string>;
  const day = `${wholeYear(groups.year!)}-${`${months.indexOf(month) + 1}`.padStart(2, '0')}-${date.replace(' ', '0')}`;
  const time = readTimestamp(`${day}T${clock}Z`);
  return time && time / 1000;
}

/** Completes a two-digit year, so that it is at most 50 years in the future. A four-digit year is returned unchanged. */
function wholeYear(year: string): string {
  if (year.length === 4) return year;
  const century = new Date().getUTCFullYear() - (new Date().getUTCFullYear() % 100);
  const whole = century + Number(year);
  return String(whole > new Date().getUTCFullYear() + 50 ? whole - 100 : whole);
}
