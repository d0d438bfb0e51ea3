// What the hub has logged lately, for operators.

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof logLevels)[number];

/**
 * One entry, `time` in milliseconds since 1970. `n` grows with each entry. It starts anew with the hub; in a hub with a store it goes
 * on over restarts, and then leaves out numbers that the hub may have told before it ended.
 */
export interface LogEntry {
  readonly n: number;
  readonly time: number;
  readonly level: LogLevel;
  readonly connection?: string | undefined;
  readonly rule?: string | undefined;
  readonly message: string;
}

/** Whether the log is written as it should be. */
export interface LogStatus {
  readonly state: 'running' | 'degraded';
  /** Says in one sentence why it is not; empty while all is well. */
  readonly reason: string;
  /** How many lines were lost since the start of the hub. */
  readonly lost: number;
}

/** How many entries are kept, the newest. */
export const keptEntries = 2000;

/** Some entries, oldest first. Whoever wants more asks for those after `next`. */
export interface LogPage {
  readonly entries: readonly LogEntry[];
  readonly next: number;
  /** Names the count of `n`: as long as it is the same, numbers tell which entry came first. */
  readonly count: string;
}

/** The entry of a start of the hub that follows the entries of an earlier run. */
const restartText = 'the hub was restarted';

/** What the entry of a restart says: when the run before ended, as far as is known, and how. */
export function describeRestart(endedAt: number, isClean: boolean): string {
  return `${restartText}: ${describeEnd(endedAt, isClean)}`;
}

/** How a run of the hub ended, as far as is known. */
export function describeEnd(endedAt: number, isClean: boolean): string {
  const time = new Date(endedAt).toISOString();
  return isClean ? `it had ended cleanly at ${time}` : `it had not ended cleanly, at ${time} it was still running`;
}

export function isRestart({ connection, rule, message }: Omit<LogEntry, 'time'>): boolean {
  return connection === undefined && rule === undefined && message.startsWith(restartText);
}
