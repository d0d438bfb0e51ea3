// Facts about the hub that the shell shows: the name of the installation, the hub's version, and problems with connections.

import { createResource, createRoot } from 'solid-js';
import type { ConnectionList, ConnectionStatus, Health } from '../../wire/http/operation.ts';
import { mayManage } from '../hub/me.ts';
import { isStale } from '../hub/page-hub.ts';
import { getJson } from '../hub/page-request.ts';
import { usePolled } from '../hub/polled.ts';

const connectionsEveryMs = 10_000;

/** Facts about the hub, kept up to date while the console is open. */
export const installation = createRoot(() => {
  const [health] = createResource(
    () => !isStale(),
    () => getJson<Health>('/hub/health').catch(() => undefined),
  );
  const connections = usePolled<ConnectionList>(
    () => (mayManage() ? '/hub/connections' : undefined),
    'id',
    connectionsEveryMs,
  );
  return {
    /** The hub's version; undefined if the hub has not responded yet. */
    version: () => health.latest?.version,
    /** The title of the installation, or otherwise the host name of the page. */
    name: () => String(health.latest?.title || location.host),
    /** The connections that do not work properly. Empty for users who may not manage the hub. */
    troubled: (): readonly ConnectionStatus[] => {
      const list = connections.data()?.connections;
      return Array.isArray(list) ? list.filter(isTroubled) : [];
    },
    /** Whether the hub has reported its connections. Always true for users who may not see connections. */
    isKnown: () => !mayManage() || connections.data() !== undefined,
    error: connections.error,
  };
});

/** Returns whether a connection has failed, is retrying, was stopped, or has lost its device. */
function isTroubled(connection: ConnectionStatus): boolean {
  const { state, enabled, device } = connection ?? {};
  if (state === 'disabled') return enabled;
  return state === 'failed' || state === 'degraded' || device?.staleSince !== undefined;
}
