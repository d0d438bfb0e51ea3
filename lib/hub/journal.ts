// The hub's log. The journal keeps the newest entries for operators, but only their sentences, without the data. Every entry passes through
// a gate, so that no client and no value can flood the log.

import { randomUUID } from 'node:crypto';
import type { Log } from '../connections/connection.ts';
import type { KeptLog } from '../connections/persistence.ts';
import { counted } from '../model/digits.ts';
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

/** The maximum length of a kept sentence, in characters; longer sentences are truncated. */
const keptLength = 2000;

/** A log that, like pino, creates child logs with fixed data for the parts of the hub. */
export interface HubLog extends Omit<Log, 'isDebugging'> {
  child(data: object): Omit<Log, 'isDebugging'>;
  /** Returns whether the log accepts entries of a level. If omitted, the log accepts every level. */
  isLevelEnabled?(level: string): boolean;
  /** Returns the state of the log's output. Omitted if the output is always working. */
  status?(): LogStatus;
}

export class Journal implements HubLog {
  readonly isDebugging: boolean;
  readonly debug: Log['debug'];
  readonly info: Log['info'];
  readonly warn: Log['warn'];
  readonly error: Log['error'];
  readonly #log: HubLog;
  readonly #createGate: typeof createLogGate;
  readonly #levels: ReadonlySet<LogLevel>;
  #entries = new Entries();
  #earlier: Promise<void> | undefined;
  /** Identifies the numbering of the entries, so that readers notice when it starts anew. */
  #count: string = randomUUID();

  private constructor(log: HubLog, createGate: typeof createLogGate) {
    this.#log = log;
    this.#createGate = createGate;
    this.#levels = new Set(logLevels.filter((level) => log.isLevelEnabled?.(level) ?? true));
    const { debug, info, warn, error } = this.#gated(log, {});
    this.isDebugging = this.#levels.has('debug');
    this.debug = debug;
    this.info = info;
    this.warn = warn;
    this.error = error;
  }

  /** Returns a journal that forwards entries to a log. A journal is returned unchanged. */
  static of(log: HubLog): Journal {
    return log instanceof Journal ? log : new Journal(log, createLogGate);
  }

  /** Returns a journal without a gate, for hubs in virtual time. */
  static ungated(log: HubLog): Journal {
    return new Journal(log, () => (_, write) => write(1));
  }

  /**
   * Returns a log for a part of the hub. The log has its own gate, so that the entries of one connection cannot displace those of other
   * connections.
   */
  child(fixed: object): Log {
    return this.#gated(this.#log.child(fixed), fixed);
  }

  status(): LogStatus {
    return this.#log.status?.() ?? { state: 'running', reason: '', lost: 0 };
  }

  /**
   * Resolves when the entries from earlier runs have been loaded; undefined if there is nothing to wait for. Until then, readers get
   * preliminary numbers.
   */
  get earlier(): Promise<void> | undefined {
    return this.#earlier;
  }

  /** Continues the entries from earlier runs, if there are any, as soon as they arrive. */
  continueLater(kept: Promise<KeptLog | undefined>): void {
    this.#earlier = kept
      .then((log) => {
        if (log !== undefined) this.continueFrom(log);
      })
      .catch((error) => this.warn({}, `the log of earlier runs is not available: ${messageOf(error)}`))
      .finally(() => {
        this.#earlier = undefined;
      });
  }

  /**
   * Continues the entries from earlier runs of the hub, and adds an entry for the restart. Call this before the first read: the entries
   * from this run are moved behind the earlier entries and receive new numbers. Enough numbers are skipped so that no number is used twice,
   * even if an entry was shown and then not stored.
   */
  continueFrom({ entries, count, endedAt, isClean }: KeptLog): void {
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

  /**
   * Returns the entries after a number, with at least the given level. If the number comes from another run of the hub, starts from the
   * first entry.
   */
  read(after: number, least: LogLevel): LogPage {
    const { last } = this.#entries;
    const wanted = new Set(logLevels.slice(logLevels.indexOf(least)));
    const entries = this.#entries.after(after > last ? 0 : after).filter(({ level }) => wanted.has(level));
    return { entries, next: last, count: this.#count };
  }

  #gated(log: Omit<Log, 'isDebugging'>, fixed: object): Log {
    const write = (level: LogLevel, data: object, message: string) => {
      log[level](data, message);
      if (this.#levels.has(level)) this.#keep(level, message, { ...fixed, ...data });
    };
    const gate = this.#createGate((count) =>
      write('warn', { count }, `dropped ${counted(count, 'more entry', 'more entries')}: too many different messages`),
    );
    const at =
      (level: LogLevel) =>
      (data: object, message: string, kind = message) =>
        gate(`${level} ${kind}`, (count) =>
          count === 1 ? write(level, data, message) : write(level, { ...data, count }, message + timesText(count)),
        );
    const isDebugging = this.#levels.has('debug');
    return { isDebugging, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  }

  #keep(level: LogLevel, message: string, { connection, rule }: { connection?: string; rule?: string }): void {
    const text = cutText(message, keptLength);
    this.#entries.add({ n: this.#entries.last + 1, time: Date.now(), level, connection, rule, message: text });
  }
}

/** The newest log entries, in the order of their numbers. */
class Entries {
  /** The kept entries, oldest first. */
  readonly #all: LogEntry[];

  constructor(all: readonly LogEntry[] = []) {
    this.#all = all.slice(-keptEntries);
  }

  /** The number of the newest entry; 0 if there are no entries. */
  get last(): number {
    return this.#all.at(-1)?.n ?? 0;
  }

  /** Adds an entry, whose number must be greater than all other numbers. */
  add(entry: LogEntry): void {
    this.#all.push(entry);
    if (this.#all.length > keptEntries) this.#all.shift();
  }

  /** Returns the entries with a number greater than `n`, oldest first. */
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
