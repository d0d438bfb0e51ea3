// An operation is what an operator does with connections and rules.

import type { Origin } from '../../../model/parameter.ts';
import type { Log } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { FairQueue } from '../pacing/fair-queue.ts';
import type { Visitor } from '../users/visitor.ts';

/** What an operation needs. The log tells by whom it was asked for. */
export interface Operation {
  /** The REST API connection that the request came by. */
  readonly id: string;
  readonly hub: HubPort;
  readonly log: Log;
  readonly by: Origin;
  readonly visitor: Visitor;
  readonly queue: FairQueue;
}
