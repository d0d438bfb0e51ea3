// GET /hub/health: whether the hub and its connections are well, for people and for monitoring.

import type { HubPort } from '../../hub-port.ts';

/** `{"status":"ok","version":…,"epoch":…,"revision":…,"log":{…},"connections":[…]}`; `degraded` when one of them is not well. */
export function healthOf(hub: HubPort): object {
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
      since: new Date(since).toISOString(),
    })),
  };
}
