// What the hub has logged lately, for operators.

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof logLevels)[number];

/** One entry: `n` counts from 1 with each start of the hub, `time` is milliseconds since 1970. */
export interface LogEntry {
  readonly n: number;
  readonly time: number;
  readonly level: LogLevel;
  readonly connection: string | undefined;
  readonly rule: string | undefined;
  readonly message: string;
}

/** Some entries, oldest first, and what to ask for next: those after `next`. */
export interface LogPage {
  readonly entries: readonly LogEntry[];
  readonly next: number;
}
