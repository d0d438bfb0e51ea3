// The recent log entries of the hub, for operators.

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof logLevels)[number];

/**
 * One log entry. `time` is in milliseconds since 1970. `n` increases with each entry and starts over when the hub restarts. With a store,
 * `n` continues after a restart, and skips numbers that the hub may have shown before it ended.
 */
export interface LogEntry {
  readonly n: number;
  readonly time: number;
  readonly level: LogLevel;
  readonly connection?: string | undefined;
  readonly rule?: string | undefined;
  readonly message: string;
}

/** The state of the output to which the log is written. */
export interface LogStatus {
  readonly state: 'running' | 'degraded';
  /** Why the output is degraded, in one sentence. Empty if the output is not degraded. */
  readonly reason: string;
  /** The number of log lines that were lost since the hub started. */
  readonly lost: number;
}

/** The maximum number of log entries that are kept. */
export const keptEntries = 2000;

/** A page of log entries, oldest first. The next page begins after the number `next`. */
export interface LogPage {
  readonly entries: readonly LogEntry[];
  readonly next: number;
  /** Identifies the numbering: as long as this identifier stays the same, a smaller `n` means an earlier entry. */
  readonly count: string;
}

/** The message for the start of a hub that continues the log of an earlier run. */
const restartText = 'the hub was restarted';

/** Returns the message for a restart of the hub, which says when and how the previous run ended, if known. */
export function describeRestart(endedAt: number, isClean: boolean): string {
  return `${restartText}: ${describeEnd(endedAt, isClean)}`;
}

/** Returns a phrase that says when and how a run of the hub ended, if known. */
export function describeEnd(endedAt: number, isClean: boolean): string {
  const time = new Date(endedAt).toISOString();
  return isClean ? `it had ended cleanly at ${time}` : `it had not ended cleanly, at ${time} it was still running`;
}

export function isRestart({ connection, rule, message }: Omit<LogEntry, 'time'>): boolean {
  return connection === undefined && rule === undefined && message.startsWith(restartText);
}
