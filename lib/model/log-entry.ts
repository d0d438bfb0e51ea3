// What the hub has logged lately, for operators.

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof logLevels)[number];

/** One entry: `n` counts from 1 with each start of the hub, `time` is milliseconds since 1970. */
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

/** Some entries, oldest first. Whoever wants more asks for those after `next`. */
export interface LogPage {
  readonly entries: readonly LogEntry[];
  readonly next: number;
}
