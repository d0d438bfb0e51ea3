// The lines of the log that the console holds: entries of the hub that runs now, after those it saw of earlier runs.

import { isRestart, keptEntries, type LogLevel, logLevels } from '../../model/reports/log-entry.ts';
import type { LogEntry, LogPage } from '../../wire/http/operation.ts';

/** An entry, or the line that says that the hub was restarted, where the hub itself does not: it has no store. */
export type LogLine = LogEntry | 'restarted';

/** As many lines are held as the hub keeps entries. */
export interface Held {
  readonly lines: readonly LogLine[];
  /** The name of the count of their numbers; undefined: nothing was asked since a restart. */
  readonly count: string | undefined;
  /** After which entry to ask. */
  readonly next: number;
}

export const nothingHeld: Held = { lines: [], count: undefined, next: 0 };

/** Whether the numbers of a page go on after those of what is held. */
export function goesOn({ count }: Held, page: LogPage): boolean {
  return count === undefined || count === page.count;
}

/** Adds a page, asked for with `next`, after what is held. Nothing older than the lines of another count comes behind them. */
export function append({ lines, count }: Held, page: LogPage): Held {
  const news = count === undefined ? laterThan(lines, page.entries) : page.entries;
  const all = news.length === 0 ? lines : [...lines, ...news].slice(-keptEntries);
  return { lines: all, count: page.count, next: page.next };
}

/** Replaces what is held of this count with a page asked for from 0 on. While the log is paused nothing newer comes. */
export function replace({ lines, next }: Held, page: LogPage, isPaused: boolean): Held {
  const former = lines.slice(0, lines.lastIndexOf('restarted') + 1);
  const entries = isPaused ? page.entries.filter(({ n }) => n <= next) : page.entries;
  return append({ lines: former, count: undefined, next: 0 }, { ...page, entries, next: isPaused ? next : page.next });
}

/** Adds the line that says that the hub was restarted and counts anew. */
export function restart({ lines }: Held): Held {
  return { lines: [...lines, 'restarted'], count: undefined, next: 0 };
}

/** Whether a line has this level or a graver one, and contains this text, in lower case. That of a restart is always shown. */
export function isShown(line: LogLine, level: string, text: string): boolean {
  if (line === 'restarted' || isRestart(line)) return true;
  const { message, connection = '', rule = '' } = line;
  const isGrave = logLevels.indexOf(line.level) >= logLevels.indexOf(level as LogLevel);
  return isGrave && `${connection} ${rule} ${message}`.toLowerCase().includes(text);
}

/** Which lines are the first of their day, where `dayOf` tells the day of a time. The first of all is not if it is of `today`. */
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

/** A hub with a store tells of earlier runs what may be held already. */
function laterThan(lines: readonly LogLine[], entries: readonly LogEntry[]): readonly LogEntry[] {
  const last = lines.findLast((line) => line !== 'restarted');
  return last === undefined ? entries : entries.filter(({ time }) => time > last.time);
}
