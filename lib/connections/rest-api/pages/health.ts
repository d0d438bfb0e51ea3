// GET /hub/health: whether the hub and its connections are well, for people and for monitoring.

import type { Health } from '../../../wire/http/health.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { HubPort } from '../../hub-port.ts';

/** `degraded` when the log or one of the connections is not well; one that is switched off is. */
export function healthOf(hub: HubPort): Health {
  const connections = hub.connections();
  const log = hub.logStatus();
  const isWell = connections.every(({ state }) => state === 'running' || state === 'disabled');
  return {
    status: isWell && log.state === 'running' ? 'ok' : 'degraded',
    version: hub.version,
    epoch: hub.epoch,
    revision: hub.revision,
    uptimeSeconds: Math.floor((Date.now() - hub.startedAt) / 1000),
    log,
    connections: connections.map(({ id, type, description, state, reason, since }) => ({
      ...{ id, type, description, state, reason },
      since: toIsoTime(since),
    })),
  };
}
