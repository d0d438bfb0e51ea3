// GET /hub/health: whether the hub and its connections are well, for people and for monitoring.

import type { HubPort } from '../connection.ts';

/** `{"status":"ok","version":…,"epoch":…,"revision":…,"connections":[…]}`; `degraded` when a connection is not well. */
export function healthOf(hub: HubPort): object {
  const connections = hub.connections();
  const isWell = connections.every(({ state }) => state === 'running' || state === 'disabled');
  return {
    status: isWell ? 'ok' : 'degraded',
    version: hub.version,
    epoch: hub.epoch,
    revision: hub.revision,
    uptimeSeconds: Math.floor((Date.now() - hub.startedAt) / 1000),
    connections: connections.map(({ id, type, description, state, reason, since }) => ({
      ...{ id, type, description, state, reason },
      since: new Date(since).toISOString(),
    })),
  };
}
