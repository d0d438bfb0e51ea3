// GET /hub/health: the state of the hub and its connections, for people and monitoring. Also probes for supervisors and load balancers.

import { counted } from '../../../model/digits.ts';
import { HubError } from '../../../model/error.ts';
import { type Health, health, type Probe, probe } from '../../../wire/http/operation.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { HubPort } from '../../hub-port.ts';
import type { Settings } from '../settings.ts';
import type { Principal } from '../users/principal.ts';

import { page } from './endpoint.ts';

export const endpoints = [
  page({
    path: '/hub/health',
    need: 'entry',
    id: 'readHealth',
    tag: 'operation',
    summary: 'The state of the hub, for monitoring',
    answer: health,
    read: ({ hub, settings }, { principal }) => healthOf(hub, settings, principal),
  }),
  page({
    path: '/hub/health/live',
    need: 'nothing',
    isUnmetered: true,
    id: 'isLive',
    tag: 'operation',
    summary: 'Whether the hub responds, for supervisors',
    answer: probe,
    read: () => ({ status: 'live' as const }), // an answer proves that the event loop is running
  }),
  page({
    path: '/hub/health/ready',
    need: 'nothing',
    isUnmetered: true,
    id: 'isReady',
    tag: 'operation',
    summary: 'Whether all connections are running, for load balancers',
    answer: probe,
    errors: { 503: 'A connection has failed, or the hub is a standby, is waiting for its lease, or is shutting down' },
    read: (context, { principal }) => isReady(context, principal),
  }),
];

/**
 * Returns the health of the hub: `ok`, or `degraded` unless the log and all enabled connections work. Only a principal who may manage
 * learns which connections do not work.
 */
export function healthOf(hub: HubPort, { title }: Pick<Settings, 'title'>, { rights }: Principal): Health {
  const connections = hub.connections();
  const log = hub.logStatus();
  const isReported = rights?.has('manage') ?? true;
  const isWell = connections.every(({ state }) => state === 'running' || state === 'disabled');
  return {
    status: isWell && log.state === 'running' ? 'ok' : 'degraded',
    title,
    version: hub.version,
    epoch: hub.epoch,
    revision: hub.revision,
    uptimeSeconds: Math.floor(hub.uptimeMs / 1000),
    log: isReported ? log : { ...log, reason: '' },
    connections: (isReported ? connections : []).map(({ id, type, description, state, reason, since }) => ({
      ...{ id, type, description, state, reason },
      since: toIsoTime(since),
    })),
  };
}

interface ReadyContext {
  readonly hub: Pick<HubPort, 'connections' | 'leadership'>;
  readonly isStopping: () => boolean;
}

/**
 * Returns `ready` if no connection has failed. Errors: `unavailable` if a connection has failed, if neither hub of a pair has the lease,
 * and while the hub is shutting down. Only a principal who may manage learns which connections have failed, and why.
 */
export function isReady({ hub, isStopping }: ReadyContext, { rights }: Principal): Probe {
  if (isStopping()) throw new HubError('unavailable', 'the hub is shutting down');
  if (!hub.leadership.isDone)
    throw new HubError('unavailable', 'neither hub of the pair runs the connections and rules');
  const failed = hub.connections().filter(({ state }) => state === 'failed');
  if (failed.length === 0) return { status: 'ready' };
  if (rights?.has('manage') === false)
    throw new HubError(
      'unavailable',
      `not all connections are running: ${counted(failed.length, 'connection')} failed`,
    );
  const reasons = failed.map(({ id, reason }) => `connection "${id}" has failed: ${reason}`);
  throw new HubError('unavailable', `not all connections are running: ${reasons.join('; ')}`);
}
