// The log lines that the console holds: the entries from the current run of the hub, preceded by entries from earlier runs.

import { isRestart, keptEntries, type LogLevel, logLevels } from '../../model/reports/log-entry.ts';
import type { LogEntry, LogPage } from '../../wire/http/operation.ts';

/** A log entry, or the line that marks a restart of a hub without a store. A hub with a store logs its restart itself. */
export type LogLine = LogEntry | 'restarted';

/** The lines that the page holds: no more than the number of entries that the hub keeps. */
export interface Held {
  readonly lines: readonly LogLine[];
  /** The id of the numbering of the entries; undefined if no entries have been requested since a restart. */
  readonly count: string | undefined;
  /** The number of the entry after which the next request continues. */
  readonly next: number;
}

export const nothingHeld: Held = { lines: [], count: undefined, next: 0 };

/** Returns whether a page of entries continues the numbering of the held lines. */
export function isContinued({ count }: Held, page: LogPage): boolean {
  return count === undefined || count === page.count;
}

/**
 * Appends a page that was requested from entry `next` onwards. If the page starts a new numbering, entries that are not later than the held
 * lines are omitted.
 */
export function append({ lines, count }: Held, page: LogPage): Held {
  const news = count === undefined ? laterThan(lines, page.entries) : page.entries;
  const all = news.length === 0 ? lines : [...lines, ...news].slice(-keptEntries);
  return { lines: all, count: page.count, next: page.next };
}

/**
 * Replaces the lines since the last restart with a page that was requested from entry 0 onwards. While the log is paused, no newer entries
 * are added.
 */
export function replace({ lines, next }: Held, page: LogPage, isPaused: boolean): Held {
  const former = lines.slice(0, lines.lastIndexOf('restarted') + 1);
  const entries = isPaused ? page.entries.filter(({ n }) => n <= next) : page.entries;
  return append({ lines: former, count: undefined, next: 0 }, { ...page, entries, next: isPaused ? next : page.next });
}

/** Appends the line that marks a restart, after which the numbers start over. */
export function restart({ lines }: Held): Held {
  return { lines: [...lines, 'restarted'], count: undefined, next: 0 };
}

export interface Filter {
  readonly level: string;
  /** The text to search for, in lower case. */
  readonly text: string;
  /** The name of a connection or rule; undefined stands for all sources. */
  readonly source?: string | undefined;
  /** A day in the form returned by `dayOf`; undefined stands for all days. */
  readonly day?: string | undefined;
}

/**
 * Returns whether a line has at least the given level and matches the text, source and day. A restart is shown regardless of level, text
 * and source, unless it happened on another day.
 */
export function isShown(line: LogLine, { level, text, source, day }: Filter): boolean {
  if (line === 'restarted') return day === undefined;
  if (day !== undefined && dayOf(line) !== day) return false;
  if (isRestart(line)) return true;
  const { message, connection = '', rule = '' } = line;
  if (source !== undefined && sourceOf(line) !== source) return false;
  const isSevere = logLevels.indexOf(line.level) >= logLevels.indexOf(level as LogLevel);
  return isSevere && `${connection} ${rule} ${message}`.toLowerCase().includes(text);
}

/** Returns the name of the rule or connection that an entry concerns, or an empty string if there is none. */
export function sourceOf({ rule, connection }: LogEntry): string {
  return rule ?? connection ?? '';
}

/** Returns the day of an entry in the browser's time zone: `2026-11-22`. */
export function dayOf({ time }: LogEntry): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}

/** Returns the lines without consecutive repetitions, and for each repeated line its count and the time of the last repetition. */
export function fold(lines: readonly LogLine[]): {
  readonly lines: readonly LogLine[];
  readonly repeats: ReadonlyMap<LogLine, { readonly count: number; readonly last: string }>;
} {
  const folded: LogLine[] = [];
  const repeats = new Map<LogLine, { count: number; last: string }>();
  for (const line of lines) {
    const former = folded.at(-1);
    const isRepeated =
      former !== undefined &&
      former !== 'restarted' &&
      line !== 'restarted' &&
      former.level === line.level &&
      former.message === line.message &&
      sourceOf(former) === sourceOf(line);
    if (!isRepeated) folded.push(line);
    else repeats.set(former, { count: (repeats.get(former)?.count ?? 1) + 1, last: line.time });
  }
  return { lines: folded, repeats };
}

/** Formats log lines as text, with one line per entry: `<time> <level> <source>: <message>`. */
export function exportText(lines: readonly LogLine[]): string {
  return lines
    .map((line) => {
      if (line === 'restarted') return '--- the hub was restarted ---\n';
      const source = sourceOf(line);
      return `${line.time} ${line.level.padEnd(5)} ${source === '' ? '' : `${source}: `}${line.message.replaceAll('\n', '\n  ')}\n`;
    })
    .join('');
}

/** Returns the lines that are the first of their day according to `dayOf`. The very first line is omitted if its day is `today`. */
export function beginsDay(
  lines: readonly LogLine[],
  dayOf: (time: string) => string,
  today: string,
): ReadonlySet<LogLine> {
  const first = new Set<LogLine>();
  let day = today;
  for (const line of lines) {
    if (line === 'restarted' || dayOf(line.time) === day) continue;
    day = dayOf(line.time);
    first.add(line);
  }
  return first;
}

/** Returns the entries that are later than the lines, because a hub with a store sends entries from earlier runs again. */
function laterThan(lines: readonly LogLine[], entries: readonly LogEntry[]): readonly LogEntry[] {
  const last = lines.findLast((line) => line !== 'restarted');
  return last === undefined ? entries : entries.filter(({ time }) => time > last.time);
}
