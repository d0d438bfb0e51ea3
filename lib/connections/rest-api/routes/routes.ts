// What the hub answers over HTTP, path by path. pages/openapi/document.ts tells machines the same, and a spec compares both.

import { HubError } from '../../../model/error.ts';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import { createDisk } from '../files/disk.ts';
import { acceptOf, acceptsJson } from '../http/answer/accept.ts';
import { replyError } from '../http/answer/reply.ts';
import type { Route } from '../http/router.ts';
import { Dashboards } from '../pages/dashboards.ts';
import { browserRoutes, documentRoutes } from './browser.ts';
import { dashboardRoutes } from './dashboards.ts';
import { replyNotFound } from './handlers.ts';
import { operationRoutes } from './operation.ts';
import { parameterRoutes } from './parameters.ts';
import { pastRoutes } from './past.ts';
import type { RouteContext } from './route-context.ts';
import { stateRoutes } from './state.ts';
import { storeRoutes } from './store.ts';
import { userRoutes } from './users.ts';

export function routesOf(context: RouteContext): Route[] {
  const { settings, resolvePath } = context;
  const folder = settings.dashboards === '' ? undefined : resolvePath(settings.dashboards);
  const dashboards = new Dashboards(folder, createDisk(folder ?? ''));
  return [
    { path: '/ws', need: 'entry', get: refusePlainHttp },
    ...parameterRoutes(context),
    ...pastRoutes(context),
    ...stateRoutes(context),
    ...operationRoutes(context),
    ...storeRoutes(context),
    ...dashboardRoutes(context, dashboards),
    ...userRoutes(context, dashboards),
    ...browserRoutes(context),
    { path: '/hub/*', need: 'entry', get: replyNotFound },
    ...documentRoutes(context),
  ];
}

function refusePlainHttp(response: HttpResponse, request: HttpRequest): void {
  const error = new HubError('upgrade-required', '/ws: expected a WebSocket handshake, got plain HTTP');
  replyError(response, error, acceptsJson(acceptOf(request)));
}
