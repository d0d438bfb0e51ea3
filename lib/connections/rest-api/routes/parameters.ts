// The routes to values of parameters, and to why they are so.

import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import type { Route } from '../http/router.ts';
import { shareOf } from '../limits/rates.ts';
import { explainParameter, explainPath } from '../pages/parameters/explain.ts';
import { listParameters } from '../pages/parameters/list.ts';
import { parametersPath } from '../pages/parameters/read.ts';
import { updateByGet, updateByPost } from '../pages/parameters/update.ts';
import { remoteAddressOf } from '../proxies/remote-address.ts';
import { followTrace } from '../tracing/traceparent.ts';
import type { Visitor } from '../users/visitor.ts';
import { pagesOf } from './handlers.ts';
import type { RouteContext } from './route-context.ts';

export function parameterRoutes(context: RouteContext): Route[] {
  const { hub, settings, originOf, reader, rates } = context;
  const json = pagesOf(context);
  const updaterOf = (response: HttpResponse, request: HttpRequest, visitor: Visitor) => ({
    share: shareOf(visitor, remoteAddressOf(response)),
    view: visitor.view,
    origin: followTrace(originOf(visitor, remoteAddressOf(response)), request),
    expectRate: rates.writes && (() => expectRate(visitor, remoteAddressOf(response))),
  });
  /** Errors: `too-many-requests`. */
  const expectRate = (visitor: Visitor, address: string) => {
    const refusal = rates.writes?.({ share: shareOf(visitor, address), id: undefined }, 1);
    if (refusal !== undefined) throw refusal;
  };
  return [
    {
      path: `${parametersPath}*`,
      need: 'entry',
      get: (response, request, visitor) => reader.answer(response, request, visitor),
    },
    {
      path: '/update',
      need: 'entry',
      ...(settings.getUpdates && {
        getWrites: true,
        get: (response, request, visitor) =>
          updateByGet(context, updaterOf(response, request, visitor), response, request),
      }),
      post: (response, request, visitor) =>
        updateByPost(context, updaterOf(response, request, visitor), response, request),
    },
    {
      path: '/hub/parameters',
      need: 'entry',
      get: (response, request, visitor) => listParameters(context, visitor, response, request),
    },
    {
      path: `${explainPath}*`,
      need: 'entry',
      get: json(({ path, visitor }) => explainParameter(hub, visitor.view, path)),
    },
  ];
}
