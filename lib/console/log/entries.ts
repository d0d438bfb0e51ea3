// The lines of the log that the console holds: entries of the hub that runs now, after those it saw of earlier runs.

import { type LogLevel, logLevels } from '../../model/log-entry.ts';
import type { LogEntry, LogPage } from '../../wire/http/log.ts';

/** How many lines are held. The hub keeps as many entries. */
export const maxLines = 2000;

/** An entry, or the line that says that the hub was restarted. */
export type LogLine = LogEntry | 'restarted';

export interface Held {
  readonly lines: readonly LogLine[];
  /** The newest entry of the hub that runs now; undefined: none is known yet. */
  readonly last: LogEntry | undefined;
}

/** After which entry to ask. The newest that is held comes once more: it shows whether this is still the same hub. */
export function afterOf({ last }: Held): number {
  return last === undefined ? 0 : last.n - 1;
}

/** Whether a page, asked for with `afterOf` or from 0 on, comes from the same run of the hub as what is held. */
export function isSameHub({ last }: Held, { entries, next }: LogPage): boolean {
  if (last === undefined) return true;
  const again = entries.find(({ n }) => n === last.n);
  if (again) return again.time === last.time && again.message === last.message;
  return next - last.n >= maxLines; // it has logged so much since that it no longer keeps that entry
}

/** Adds a page, asked for with `afterOf`, after what is held. */
export function append({ lines, last }: Held, { entries }: LogPage): Held {
  const news = entries.filter(({ n }) => n > (last?.n ?? 0));
  if (news.length === 0) return { lines, last };
  return { lines: [...lines, ...news].slice(-maxLines), last: news.at(-1) };
}

/** Replaces what is held of this run with a page asked for from 0 on. Unless it `goesOn`, nothing newer than `last` comes. */
export function replace({ lines, last }: Held, { entries }: LogPage, goesOn: boolean): Held {
  const former = lines.slice(0, lines.lastIndexOf('restarted') + 1);
  const wanted = goesOn ? entries : entries.filter(({ n }) => n <= (last?.n ?? 0));
  return append({ lines: former, last: undefined }, { entries: wanted, next: 0 });
}

/** Adds the line that says that the hub was restarted. Its entries come after that line. */
export function restart({ lines }: Held): Held {
  return { lines: [...lines, 'restarted'], last: undefined };
}

/** Whether a line has this level or a graver one, and contains this text, in lower case. That of a restart is always shown. */
export function isShown(line: LogLine, level: string, text: string): boolean {
  if (line === 'restarted') return true;
  const { message, connection = '', rule = '' } = line;
  const isGrave = logLevels.indexOf(line.level) >= logLevels.indexOf(level as LogLevel);
  return isGrave && `${connection} ${rule} ${message}`.toLowerCase().includes(text);
}
