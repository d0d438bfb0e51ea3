// How a connection is doing, and what can be done with it by hand.

/**
 * running: it works; degraded: it works in part, or tries again; failed: it cannot start; disabled: its settings or an operator
 * have switched it off.
 */
export type ConnectionState = 'running' | 'degraded' | 'failed' | 'disabled';

/** How a connection is doing: `since` is milliseconds since 1970, `reason` one sentence, empty while all is well. */
export interface ConnectionStatus {
  readonly id: string;
  readonly type: string;
  readonly description: string;
  readonly state: ConnectionState;
  readonly reason: string;
  readonly since: number;
  /** Whether its settings have it run. */
  readonly enabled: boolean;
  /** How many parameters it has. */
  readonly parameters: number;
  /** The flow file that declares it. */
  readonly file: string;
}

/** What can be done with a connection by hand. */
export const connectionActions = ['start', 'stop', 'restart'] as const;

export type ConnectionAction = (typeof connectionActions)[number];
