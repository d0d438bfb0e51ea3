// How commands print values, origins and times for people.
import type { Origin } from '../../model/parameter.ts';
import { readIsoTime } from '../../model/time/iso-time.ts';
import type { Value } from '../../model/value.ts';
import { something } from '../../wire/http/hidden.ts';
import type { IsoTime } from '../../wire/time.ts';

const shownLength = 80;

/** Returns a value as it is shown to people, on one line. */
export function show(value: Value | null | undefined): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > shownLength ? `${text.slice(0, shownLength - 1)}…` : text;
}

/**
 * Describes a writer: `set by rule "lamp off" (demo.json5)`, `set by client api 10.0.0.3` or `restored by store`. A writer that another hub
 * reports is marked as such: `set by client "api alice" on hub "west", according to that hub`.
 */
export function describeWriter({ kind, name, file, hub, reportedBy }: Origin): string {
  const verb = kind === 'restored' ? 'restored by' : `set by ${kind}`;
  if (name === something) return `set by a ${kind} that you are not allowed to see`;
  const where = hub === undefined ? '' : ` on hub "${hub}"`;
  const who = kind === 'rule' || reportedBy !== undefined ? JSON.stringify(name) : name;
  const sentence = `${verb} ${who}${kind === 'rule' && file !== undefined ? ` (${file})` : ''}${where}`;
  if (reportedBy === undefined) return sentence;
  return `${sentence}, according to ${hub === reportedBy ? 'that hub' : `hub "${reportedBy}"`}`;
}

/** Formats a time in the user's time zone, with the date unless the time is today. */
export function localTime(time: IsoTime): string {
  const local = (date: Date) => new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString();
  const [day, clock] = local(new Date(time)).split(/[TZ]/);
  return local(new Date()).startsWith(day!) ? clock! : `${day} ${clock}`;
}

export function describeStaleness(since: IsoTime): string {
  return `the value may be outdated: its device has been offline since ${localTime(since)}`;
}

/** Interprets a time without a zone as a time in the user's time zone rather than the hub's. All other strings are returned unchanged. */
export function withZone(text: string): string {
  const time = /T.*(?:Z|[+-]\d\d:\d\d)$/.test(text) ? undefined : readIsoTime(text);
  return time === undefined ? text : new Date(time).toISOString();
}
