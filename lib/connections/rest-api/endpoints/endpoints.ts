// All that the hub answers over HTTP. To add an endpoint, write it in a file beside this one and name it in this list.

import { HubError } from '../../../model/error.ts';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import { Dashboards } from '../dashboards/dashboards.ts';
import { createDisk } from '../files/disk.ts';
import { acceptOf, acceptsJson } from '../http/answer/accept.ts';
import { replyError } from '../http/answer/reply.ts';
import type { Route } from '../http/router.ts';
import { PastShares } from '../limits/past-shares.ts';
import { auditEndpoints } from './audit.ts';
import { backupEndpoints } from './backup.ts';
import { browserEndpoints, documentRoutes, replyNotFound } from './browser.ts';
import { clientEndpoints } from './clients.ts';
import { connectionEndpoints } from './connections.ts';
import { dashboardEndpoints } from './dashboards.ts';
import { type Context, type Endpoint, startOf } from './endpoint.ts';
import { eventEndpoints } from './events.ts';
import { explainEndpoints } from './explain.ts';
import { flowFileEndpoints } from './flow-files.ts';
import { healthEndpoints } from './health.ts';
import { historyEndpoints } from './history.ts';
import { hubEndpoints } from './hubs.ts';
import { logEndpoints } from './log.ts';
import { metricEndpoints } from './metrics.ts';
import { openApiEndpoints } from './openapi.ts';
import { parameterEndpoints } from './parameter.ts';
import { parameterListEndpoints } from './parameters.ts';
import { recordEndpoints } from './record.ts';
import { ruleEndpoints } from './rules.ts';
import { signInEndpoints } from './sign-in.ts';
import { snapshotEndpoints } from './snapshots.ts';
import { storeEndpoints } from './store.ts';
import { updateEndpoints } from './update.ts';
import { userEndpoints } from './users.ts';

export const endpoints: readonly Endpoint[] = [
  ...parameterEndpoints,
  ...updateEndpoints,
  ...parameterListEndpoints,
  ...explainEndpoints,
  ...ruleEndpoints,
  ...connectionEndpoints,
  ...flowFileEndpoints,
  ...dashboardEndpoints,
  ...historyEndpoints,
  ...eventEndpoints,
  ...auditEndpoints,
  ...snapshotEndpoints,
  ...storeEndpoints,
  ...backupEndpoints,
  ...recordEndpoints,
  ...logEndpoints,
  ...healthEndpoints,
  ...clientEndpoints,
  ...hubEndpoints,
  ...metricEndpoints,
  ...openApiEndpoints,
  ...signInEndpoints,
  ...userEndpoints,
  ...browserEndpoints,
];

/** What the server of a connection has; the rest is made here. */
export type ServerContext = Omit<Context, 'dashboards' | 'pastShares' | 'endpoints'>;

/** What is answered at which path. */
export function routesOf(server: ServerContext): Route[] {
  const { settings, resolvePath } = server;
  const folder = settings.dashboards === '' ? undefined : resolvePath(settings.dashboards);
  const dashboards = new Dashboards(folder, createDisk(folder ?? ''));
  const context: Context = { ...server, dashboards, pastShares: new PastShares(), endpoints };
  const there = endpoints.filter(({ isThere }) => isThere?.(settings) ?? true);
  const byPath = Map.groupBy(there, ({ path }) => (path.includes('{') ? `${startOf(path)}*` : path));
  return [
    { path: '/ws', get: { need: 'entry', handler: refusePlainHttp } },
    ...[...byPath].map(([path, methods]) => ({
      path,
      ...Object.fromEntries(
        methods.map(({ method, serve, need, isUnmetered, getWrites }) => [
          method.toLowerCase(),
          { need, isUnmetered, writes: getWrites, handler: serve(context) },
        ]),
      ),
    })),
    { path: '/hub/*', get: { need: 'entry', handler: replyNotFound } },
    ...documentRoutes(context),
  ];
}

function refusePlainHttp(response: HttpResponse, request: HttpRequest): void {
  const error = new HubError('upgrade-required', '/ws: expected a WebSocket handshake, got plain HTTP');
  replyError(response, error, acceptsJson(acceptOf(request)));
}
