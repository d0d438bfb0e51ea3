// How a connection is doing, and what can be done with it by hand.

/** running; degraded: works partly, or retries; failed: cannot start; disabled: by its settings, or stopped by hand. */
export type ConnectionState = 'running' | 'degraded' | 'failed' | 'disabled';

/** How a connection is doing: `since` is milliseconds since 1970, `reason` one sentence, empty while all is well. */
export interface ConnectionStatus {
  readonly id: string;
  readonly type: string;
  readonly description: string;
  readonly state: ConnectionState;
  readonly reason: string;
  readonly since: number;
  /** As its settings say. */
  readonly enabled: boolean;
  /** How many parameters it has. */
  readonly parameters: number;
  /** The flow file that declares it. */
  readonly file: string;
}

/** What can be done with a connection by hand. */
export const connectionActions = ['start', 'stop', 'restart'] as const;

export type ConnectionAction = (typeof connectionActions)[number];
