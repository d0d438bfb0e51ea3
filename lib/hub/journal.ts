// The log of a hub. It keeps the newest entries for operators: the sentences, without the data beside them. Every entry goes
// through a gate, so that no client and no value can flood the log.

import { randomUUID } from 'node:crypto';
import type { Log } from '../connections/connection.ts';
import type { KeptLog } from '../connections/persistence.ts';
import { messageOf } from '../model/error.ts';
import { createLogGate, timesText } from '../model/log-gate.ts';
import { cutText } from '../model/printable.ts';
import {
  describeRestart,
  keptEntries,
  type LogEntry,
  type LogLevel,
  type LogPage,
  type LogStatus,
  logLevels,
} from '../model/reports/log-entry.ts';

/** Longer sentences are cut. */
const keptLength = 2000;

/** A log that makes a log with fixed data for each part of the hub, as pino does. */
export interface HubLog extends Log {
  child(data: object): Log;
  /** Whether the log takes entries of a level; left out: it takes every level. */
  isLevelEnabled?(level: string): boolean;
  /** How it is being written; left out: it is always written. */
  status?(): LogStatus;
}

export class Journal implements HubLog {
  readonly debug: Log['debug'];
  readonly info: Log['info'];
  readonly warn: Log['warn'];
  readonly error: Log['error'];
  readonly #log: HubLog;
  readonly #createGate: typeof createLogGate;
  readonly #levels: ReadonlySet<LogLevel>;
  #entries = new Entries();
  #earlier: Promise<void> | undefined;
  /** Names the count of entries. */
  #count: string = randomUUID();

  private constructor(log: HubLog, createGate: typeof createLogGate) {
    this.#log = log;
    this.#createGate = createGate;
    this.#levels = new Set(logLevels.filter((level) => log.isLevelEnabled?.(level) ?? true));
    const { debug, info, warn, error } = this.#gated(log, {});
    this.debug = debug;
    this.info = info;
    this.warn = warn;
    this.error = error;
  }

  /** A journal that passes entries on to a log; a log that is a journal already is returned as it is. */
  static of(log: HubLog): Journal {
    return log instanceof Journal ? log : new Journal(log, createLogGate);
  }

  /** A journal without a gate, for hubs in virtual time. */
  static ungated(log: HubLog): Journal {
    return new Journal(log, () => (_, write) => write(1));
  }

  /** A log for a part of the hub. It has a gate of its own, so that one connection cannot take the entries of the others. */
  child(fixed: object): Log {
    return this.#gated(this.#log.child(fixed), fixed);
  }

  status(): LogStatus {
    return this.#log.status?.() ?? { state: 'running', reason: '', lost: 0 };
  }

  /** Resolves when the entries of earlier runs are there; undefined: they are. Who reads before gets numbers that change. */
  get earlier(): Promise<void> | undefined {
    return this.#earlier;
  }

  /** Goes on after the entries of earlier runs, should there be any, once they come. */
  goOnLater(kept: Promise<KeptLog | undefined>): void {
    this.#earlier = kept
      .then((log) => {
        if (log !== undefined) this.goOn(log);
      })
      .catch((error) => this.warn({}, `the log of earlier runs is not shown: ${messageOf(error)}`))
      .finally(() => {
        this.#earlier = undefined;
      });
  }

  /**
   * Goes on after the entries of earlier runs of the hub, with one that tells of the restart. To be called before anybody reads:
   * what this run has logged so far comes behind them, and gets new numbers. So many numbers are left out that none comes twice
   * which was told and then not kept.
   */
  goOn({ entries, count, endedAt, isClean }: KeptLog): void {
    const own = this.#entries.after(0);
    this.#count = count;
    this.#entries = new Entries(entries);
    const now = Date.now();
    const { n, time } = entries.at(-1) ?? { n: 0, time: now };
    const first = n + keptEntries + Math.max(0, now - time);
    const message = describeRestart(endedAt, isClean);
    const level = isClean ? 'info' : 'warn';
    this.#log[level]({}, message);
    if (this.#levels.has(level)) this.#entries.add({ n: first, time: own[0]?.time ?? now, level, message });
    for (const [index, entry] of own.entries()) this.#entries.add({ ...entry, n: first + 1 + index });
  }

  /** The entries after a number, of a level or a graver one; all that are kept if the number is of another run of the hub. */
  read(after: number, least: LogLevel): LogPage {
    const { last } = this.#entries;
    const wanted = new Set(logLevels.slice(logLevels.indexOf(least)));
    const entries = this.#entries.after(after > last ? 0 : after).filter(({ level }) => wanted.has(level));
    return { entries, next: last, count: this.#count };
  }

  #gated(log: Log, fixed: object): Log {
    const write = (level: LogLevel, data: object, message: string) => {
      log[level](data, message);
      if (this.#levels.has(level)) this.#keep(level, message, { ...fixed, ...data });
    };
    const gate = this.#createGate((count) =>
      write('warn', { count }, `${count} more entries were left out: too many kinds`),
    );
    const at =
      (level: LogLevel) =>
      (data: object, message: string, kind = message) =>
        gate(`${level} ${kind}`, (count) =>
          count === 1 ? write(level, data, message) : write(level, { ...data, count }, message + timesText(count)),
        );
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  }

  #keep(level: LogLevel, message: string, { connection, rule }: { connection?: string; rule?: string }): void {
    const text = cutText(message, keptLength);
    this.#entries.add({ n: this.#entries.last + 1, time: Date.now(), level, connection, rule, message: text });
  }
}

/** The newest entries, by number. */
class Entries {
  /** Oldest first. */
  readonly #all: LogEntry[];

  constructor(all: readonly LogEntry[] = []) {
    this.#all = all.slice(-keptEntries);
  }

  /** The number of the newest; 0: there is none. */
  get last(): number {
    return this.#all.at(-1)?.n ?? 0;
  }

  /** Adds an entry whose number is greater than all others. */
  add(entry: LogEntry): void {
    this.#all.push(entry);
    if (this.#all.length > keptEntries) this.#all.shift();
  }

  /** Those with a greater number, oldest first. */
  after(n: number): readonly LogEntry[] {
    let [low, high] = [0, this.#all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#all[middle]!.n > n) high = middle;
      else low = middle + 1;
    }
    return this.#all.slice(low);
  }
}
