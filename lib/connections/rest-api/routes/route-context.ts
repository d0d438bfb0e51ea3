// What the routes need: the hub, and the parts of the server.

import type { Origin } from '../../../model/parameter.ts';
import type { Log } from '../../connection.ts';
import type { HubPort } from '../../hub-port.ts';
import type { Entry } from '../http/guard/entry.ts';
import type { WriteCounts } from '../input/write-counts.ts';
import type { LimitHits } from '../limits/limit-hits.ts';
import type { Rates } from '../limits/rates.ts';
import type { FairQueue } from '../pacing/fair-queue.ts';
import type { ParameterReader } from '../pages/parameters/read.ts';
import type { Settings } from '../settings.ts';
import type { Sockets } from '../sockets/sockets.ts';
import type { Visitor } from '../users/visitor.ts';

export interface RouteContext {
  /** The Connection ID of the REST API. */
  readonly id: string;
  readonly hub: HubPort;
  readonly settings: Settings;
  readonly log: Log;
  readonly queue: FairQueue;
  readonly hits: LimitHits;
  readonly writes: WriteCounts;
  readonly rates: Rates;
  readonly sockets: Sockets;
  readonly entry: Entry;
  readonly reader: ParameterReader;
  readonly resolvePath: (path: string) => string;
  /** Whether the server has begun to stop. */
  readonly isStopping: () => boolean;
  readonly originOf: (visitor: Visitor, address: string) => Origin;
  /** The folder of the built console. */
  readonly consoleFolder: string;
}
