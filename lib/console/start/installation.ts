// What the shell shows of the hub: the name of the installation, its version, and what is wrong with its connections.

import { createResource, createRoot } from 'solid-js';
import type { ConnectionList, ConnectionStatus, Health } from '../../wire/http/operation.ts';
import { mayManage } from '../hub/me.ts';
import { isStale } from '../hub/page-hub.ts';
import { getJson } from '../hub/page-request.ts';
import { usePolled } from '../hub/polled.ts';

const connectionsEveryMs = 10_000;

/** Follows the hub as long as the console is open. */
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
    /** Undefined if the hub has not answered yet. */
    version: () => health.latest?.version,
    /** The title, or else the host of the page. */
    name: () => String(health.latest?.title || location.host),
    /** Connections that do not work as they should; only for users who may manage. */
    troubled: (): readonly ConnectionStatus[] => {
      const list = connections.data()?.connections;
      return Array.isArray(list) ? list.filter(isTroubled) : [];
    },
    /** Whether the hub has reported them, if the user may know. */
    isKnown: () => !mayManage() || connections.data() !== undefined,
    error: connections.error,
  };
});

/** Whether a connection fails, retries, was stopped, or has lost its device. */
function isTroubled(connection: ConnectionStatus): boolean {
  const { state, enabled, device } = connection ?? {};
  if (state === 'disabled') return enabled;
  return state === 'failed' || state === 'degraded' || device?.staleSince !== undefined;
}
