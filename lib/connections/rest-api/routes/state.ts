// The routes that tell how the hub is, and what it has.

import type { Route } from '../http/router.ts';
import { createMetricsPage } from '../metrics/page.ts';
import { clientsOf } from '../pages/clients.ts';
import { filesOf } from '../pages/flow-files.ts';
import { healthOf, isLive, isReady } from '../pages/health.ts';
import { hubsOf } from '../pages/hubs.ts';
import { wholeLogOf } from '../pages/log.ts';
import { openApiTextOf } from '../pages/openapi/document.ts';
import { traceRule } from '../pages/trace.ts';
import { pagesOf } from './handlers.ts';
import type { RouteContext } from './route-context.ts';

export function stateRoutes(context: RouteContext): Route[] {
  const { hub, settings, sockets, entry } = context;
  const openApi = () => openApiTextOf(hub.version, entry.directory, settings.getUpdates, entry.cookieName);
  const json = pagesOf(context);
  return [
    { path: '/hub/clients', need: 'manage', get: json(() => clientsOf(sockets.clients())) },
    { path: '/hub/files', need: 'manage', get: json(() => filesOf(hub)) },
    { path: '/hub/health', need: 'entry', get: json(({ visitor }) => healthOf(hub, visitor)) },
    { path: '/hub/health/live', need: 'nothing', isUnmetered: true, get: json(isLive) },
    {
      path: '/hub/health/ready',
      need: 'nothing',
      isUnmetered: true,
      get: json(({ visitor }) => isReady(context, visitor)),
    },
    { path: '/hub/metrics', need: 'metrics', get: json(createMetricsPage(context)) },
    { path: '/hub/hubs', need: 'manage', get: json(() => hubsOf(hub)) },
    { path: '/hub/log', need: 'manage', get: json(({ query }) => wholeLogOf(hub, query)) },
    { path: '/hub/openapi.json', need: 'entry', get: json(openApi) },
    { path: '/hub/trace', need: 'manage', get: json(({ query }) => traceRule(hub, query)) },
  ];
}
