// The routes to dashboards.

import { decodePath } from '../http/path.ts';
import type { Route } from '../http/router.ts';
import type { Dashboards } from '../pages/dashboards.ts';
import { pagesOf } from './handlers.ts';
import type { RouteContext } from './route-context.ts';

const dashboardsPath = '/hub/dashboards';

export function dashboardRoutes(context: RouteContext, dashboards: Dashboards): Route[] {
  const json = pagesOf(context);
  return [
    { path: dashboardsPath, need: 'entry', get: json(({ visitor }) => dashboards.list(visitor)) },
    {
      path: `${dashboardsPath}/*`,
      need: 'entry',
      get: json(({ path, visitor }) => dashboards.read(decodePath(path.slice(dashboardsPath.length + 1)), visitor)),
    },
  ];
}
