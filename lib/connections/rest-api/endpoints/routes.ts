// The routes for all listed endpoints, and for everything else: WebSockets, the Document Root, and unknown paths.

import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import { Dashboards } from '../dashboards/served-dashboards.ts';
import { createDisk } from '../files/reading.ts';
import { acceptOf, acceptsJson } from '../http/answer/accept.ts';
import { replyError } from '../http/answer/reply.ts';
import type { Route } from '../http/router.ts';
import { PastShares } from '../limits/past-shares.ts';
import { whyNoHandshake } from '../sockets/handshake.ts';
import { documentRoutes, replyNotFound } from './browser.ts';
import { type Context, type Endpoint, startOf } from './endpoint.ts';
import * as list from './list.ts';

export const endpoints: readonly Endpoint[] = Object.values(list).flat();

/** The parts of the context that the server of a connection provides. `routesOf` creates the other parts. */
export type ServerContext = Omit<Context, 'dashboards' | 'pastShares' | 'endpoints'>;

/** Returns the routes of a server, including the routes of the Document Root. */
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
  replyError(response, whyNoHandshake(request), acceptsJson(acceptOf(request)));
}
