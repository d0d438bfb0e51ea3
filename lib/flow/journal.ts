// The log of a hub, of which the newest entries are kept for operators. Only sentences are kept, not the data beside them.

import type { Log } from '../connections/connection.ts';
import { type LogEntry, type LogLevel, type LogPage, logLevels } from '../model/log-entry.ts';

/** How many entries are kept. */
const keptEntries = 2000;
/** Longer sentences are cut. */
const keptLength = 2000;

/** A log that makes logs with fixed data for its parts, as pino does. */
export interface HubLog extends Log {
  child(data: object): Log;
  /** Whether the log takes entries of a level; left out: of every level. */
  isLevelEnabled?(level: string): boolean;
}

export class Journal implements HubLog {
  readonly #log: HubLog;
  readonly #levels: ReadonlySet<LogLevel>;
  /** A ring: the entry of number n is at n − 1 modulo its size. */
  readonly #entries: LogEntry[] = [];
  #last = 0;

  private constructor(log: HubLog) {
    this.#log = log;
    this.#levels = new Set(logLevels.filter((level) => log.isLevelEnabled?.(level) ?? true));
  }

  /** A log that passes everything on and keeps the newest; one that does so already is left as it is. */
  static of(log: HubLog): Journal {
    return log instanceof Journal ? log : new Journal(log);
  }

  debug(data: object, message: string): void {
    this.#write(this.#log, 'debug', data, message);
  }

  info(data: object, message: string): void {
    this.#write(this.#log, 'info', data, message);
  }

  warn(data: object, message: string): void {
    this.#write(this.#log, 'warn', data, message);
  }

  error(data: object, message: string): void {
    this.#write(this.#log, 'error', data, message);
  }

  child(fixed: object): Log {
    const log = this.#log.child(fixed);
    const at = (level: LogLevel) => (data: object, message: string) =>
      this.#write(log, level, data, message, { ...fixed, ...data });
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  }

  /** The entries after one, of a level or a graver one; all that are kept when the number is of another run of the hub. */
  read(after: number, least: LogLevel): LogPage {
    const first = Math.max(1, this.#last - this.#entries.length + 1);
    const from = after > this.#last ? first : Math.max(first, after + 1);
    const wanted = new Set(logLevels.slice(logLevels.indexOf(least)));
    const entries: LogEntry[] = [];
    for (let n = from; n <= this.#last; n++) {
      const entry = this.#entries[(n - 1) % keptEntries]!;
      if (wanted.has(entry.level)) entries.push(entry);
    }
    return { entries, next: this.#last };
  }

  #write(log: Log, level: LogLevel, data: object, message: string, about: object = data): void {
    log[level](data, message);
    if (!this.#levels.has(level)) return;
    const { connection, rule } = about as { connection?: string; rule?: string };
    const text = message.length > keptLength ? `${message.slice(0, keptLength)}…` : message;
    const n = ++this.#last;
    this.#entries[(n - 1) % keptEntries] = { n, time: Date.now(), level, connection, rule, message: text };
  }
}
