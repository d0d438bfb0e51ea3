// The routes to what can be switched, stopped and started again.

import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { Route } from '../http/router.ts';
import { connectionsOf, connectionsPath, controlConnection } from '../pages/connections.ts';
import { switchRule } from '../pages/rules.ts';
import { reloadHub, shadowOf } from '../pages/shadow.ts';
import { remoteAddressOf } from '../proxies/remote-address.ts';
import { followTrace } from '../tracing/traceparent.ts';
import type { Visitor } from '../users/visitor.ts';
import { pagesOf } from './handlers.ts';
import type { RouteContext } from './route-context.ts';

export function operationRoutes(context: RouteContext): Route[] {
  const { id, hub, log, queue, originOf } = context;
  const operationOf = (response: HttpResponse, request: HttpRequest, visitor: Visitor) => ({
    ...{ id, hub, log, queue, visitor },
    by: followTrace(originOf(visitor, remoteAddressOf(response)), request),
  });
  const json = pagesOf(context);
  return [
    { path: connectionsPath, need: 'manage', get: json(() => connectionsOf(hub)) },
    {
      path: `${connectionsPath}/*`,
      need: 'manage',
      post: (response, request, visitor) =>
        controlConnection(operationOf(response, request, visitor), response, request),
    },
    {
      path: '/hub/rules',
      need: 'manage',
      get: json(() => hub.eachRule()),
      post: (response, request, visitor) => switchRule(operationOf(response, request, visitor), response, request),
    },
    {
      path: '/hub/reload',
      need: 'manage',
      post: (response, request, visitor) => reloadHub(operationOf(response, request, visitor), response, request),
    },
    { path: '/hub/shadow', need: 'manage', get: json(() => shadowOf(hub)) },
  ];
}
