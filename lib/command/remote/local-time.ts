// Times as people read them, where they are.

import { readIsoTime } from '../../model/time/iso-time.ts';
import type { IsoTime } from '../../wire/time.ts';

/** The time of day where the user is, with the date unless it is today. */
export function localTime(time: IsoTime): string {
  const local = (date: Date) => new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString();
  const [day, clock] = local(new Date(time)).split(/[TZ]/);
  return local(new Date()).startsWith(day!) ? clock! : `${day} ${clock}`;
}

/** A time that was typed without a zone is one where the user is, not where the hub is. Others stay as they are. */
export function withZone(text: string): string {
  const time = /T.*(?:Z|[+-]\d\d:\d\d)$/.test(text) ? undefined : readIsoTime(text);
  return time === undefined ? text : new Date(time).toISOString();
}
