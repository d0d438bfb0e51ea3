// What operators do with what runs: who asks, and by which connection.

import type { Origin } from '../../../model/parameter.ts';
import type { Log } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';

/** An operator asks for something, which is logged in its name. */
export interface Operation {
  /** The REST API connection that the request came by. */
  readonly id: string;
  readonly hub: HubPort;
  readonly log: Log;
  readonly by: Origin;
}
