// Connections, and what is done with one by hand.

import type * as model from '../../../model/reports/connection-status.ts';
import type { IsoTime } from '../../time.ts';

/**
 * `GET /hub/connections` answers with `{"structure":12,"connections":[{"id":"desk","type":"dummy","state":"running",…}]}`, as the flow
 * files order them.
 */
export interface ConnectionList {
  /** Counts the parameters of the hub that have come and gone, those of other hubs as well. */
  readonly structure: number;
  readonly connections: readonly ConnectionStatus[];
}

/** `{"id":"desk","type":"dummy","description":"","state":"running","reason":"","since":"2026-…","enabled":true,"parameters":5,"file":"…"}`. */
export interface ConnectionStatus extends Omit<model.ConnectionStatus, 'since'> {
  /** Since when it is in its state. */
  readonly since: IsoTime;
}

/** `POST /hub/connections/<id>` takes `{"action":"restart"}` and answers with a `ConnectionStatus`. */
export interface ConnectionControl {
  readonly action: model.ConnectionAction;
}
