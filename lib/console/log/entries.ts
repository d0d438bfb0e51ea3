// The lines of the log that are held here: entries of the hub that runs, behind those of the runs before that were seen.

import { type LogLevel, logLevels } from '../../model/log-entry.ts';
import type { LogEntry, LogPage } from '../../wire/http/log.ts';

/** How many lines are held, the newest; the hub keeps as many entries. */
export const maxLines = 2000;

/** An entry, or that the hub was restarted. */
export type LogLine = LogEntry | 'restarted';

export interface Held {
  readonly lines: readonly LogLine[];
  /** The newest entry of the hub that runs; undefined: none is known yet. */
  readonly last: LogEntry | undefined;
}

/** After which entry to ask: the newest that is known comes once more, by which is seen whether it is still the same hub. */
export function afterOf({ last }: Held): number {
  return last === undefined ? 0 : last.n - 1;
}

/** Whether a page, asked for by `afterOf` or from 0 on, is of the hub that ran before, and not of one that was started since. */
export function isSameHub({ last }: Held, { entries, next }: LogPage): boolean {
  if (last === undefined) return true;
  const again = entries.find(({ n }) => n === last.n);
  if (again) return again.time === last.time && again.message === last.message;
  return next - last.n >= maxLines; // it has logged so much meanwhile that it no longer keeps that one
}

/** What was asked for by `afterOf` comes behind what is held. */
export function append({ lines, last }: Held, { entries }: LogPage): Held {
  const news = entries.filter(({ n }) => n > (last?.n ?? 0));
  if (news.length === 0) return { lines, last };
  return { lines: [...lines, ...news].slice(-maxLines), last: news.at(-1) };
}

/** What was asked for from 0 on, with more levels, replaces what is held of this hub; up to `last` unless it `goesOn`. */
export function replace({ lines, last }: Held, { entries }: LogPage, goesOn: boolean): Held {
  const former = lines.slice(0, lines.lastIndexOf('restarted') + 1);
  const wanted = goesOn ? entries : entries.filter(({ n }) => n <= (last?.n ?? 0));
  return append({ lines: former, last: undefined }, { entries: wanted, next: 0 });
}

/** The hub was restarted: a line says so, and what it logs comes behind it. */
export function restart({ lines }: Held): Held {
  return { lines: [...lines, 'restarted'], last: undefined };
}

/** Whether a line is shown at a level, or a graver one, with a text in lower case in it. That the hub was restarted always is. */
export function isShown(line: LogLine, level: string, text: string): boolean {
  if (line === 'restarted') return true;
  const { message, connection = '', rule = '' } = line;
  const isGrave = logLevels.indexOf(line.level) >= logLevels.indexOf(level as LogLevel);
  return isGrave && `${connection} ${rule} ${message}`.toLowerCase().includes(text);
}
