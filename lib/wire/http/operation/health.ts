// Whether the hub is well.

import type { LogStatus } from '../../../model/reports/log-entry.ts';
import type { ConnectionStatus } from './connections.ts';

/** `GET /hub/health` answers with `{"status":"ok","version":"0.1.0","epoch":"1f0c…","revision":7,"uptimeSeconds":12,"log":{…},"connections":[…]}`. */
export interface Health {
  /** degraded: the log, or one of the connections, is not as it should be. */
  readonly status: 'ok' | 'degraded';
  readonly version: string;
  /** Names this run of the hub. Revisions of another epoch mean nothing. */
  readonly epoch: string;
  /** The hub's count of changes. */
  readonly revision: number;
  readonly uptimeSeconds: number;
  readonly log: LogStatus;
  readonly connections: readonly ConnectionHealth[];
}

/** What a supervisor asks: `GET /hub/health/live` answers with `{"status":"live"}`, `GET /hub/health/ready` with `{"status":"ready"}`. */
export interface Probe {
  readonly status: 'live' | 'ready';
}

export type ConnectionHealth = Pick<ConnectionStatus, 'id' | 'type' | 'description' | 'state' | 'reason' | 'since'>;
