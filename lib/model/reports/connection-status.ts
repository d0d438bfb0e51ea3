// The status of a connection, and the actions that operators can perform on it.

/**
 * running: the connection works; degraded: it works partially, or retries; failed: it cannot start; disabled: it was switched off by its
 * settings or by an operator.
 */
export type ConnectionState = 'running' | 'degraded' | 'failed' | 'disabled';

/** The status of a connection. `since` is in milliseconds since 1970. `reason` is one sentence, and is empty if there is no problem. */
export interface ConnectionStatus {
  readonly id: string;
  readonly type: string;
  readonly description: string;
  readonly state: ConnectionState;
  readonly reason: string;
  readonly since: number;
  /** Whether the settings enable the connection. */
  readonly enabled: boolean;
  /** The number of the connection's parameters. */
  readonly parameters: number;
  /** The flow file that declares the connection. */
  readonly file: string;
  /** The number of frames and bytes. Present only for a connection to a device. */
  readonly wire?: WireTotals | undefined;
  /** The state of the device. Present only for a connection to a device. */
  readonly device?: DeviceStatus | undefined;
}

export interface DeviceStatus {
  /** When the device's values became stale, in milliseconds since 1970; undefined if the values are fresh. */
  readonly staleSince: number | undefined;
  /** The number of writes that the device has not confirmed yet. */
  readonly pending: number;
  /** Whether the connection is simulated, that is, runs without the device. */
  readonly isSimulated: boolean;
}

/** The numbers of frames and bytes that a connection has sent and received since it started. */
export interface WireTotals {
  readonly framesIn: number;
  readonly framesOut: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** The number of refused frames, or of refused messages in frames. Omitted if nothing was refused. */
  readonly refused?: number;
}

/** A way through a connection: a change at one of the addresses in `from` may lead to a change at each address in `to`. */
export interface Way {
  readonly connection: string;
  readonly type: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
}

/** The actions that operators can perform on a connection. */
export const connectionActions = ['start', 'stop', 'restart'] as const;

export type ConnectionAction = (typeof connectionActions)[number];
