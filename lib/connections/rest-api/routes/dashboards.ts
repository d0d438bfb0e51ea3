// The routes to dashboards.

import { createDisk } from '../files/disk.ts';
import { decodePath } from '../http/path.ts';
import type { Route } from '../http/router.ts';
import { listDashboards, readDashboard } from '../pages/dashboards.ts';
import { type PageRequest, servePageOfFiles } from '../pages/page.ts';
import type { RouteContext } from './route-context.ts';

const dashboardsPath = '/hub/dashboards';

export function dashboardRoutes({ settings, log, resolvePath }: RouteContext): Route[] {
  const folder = settings.dashboards === '' ? undefined : resolvePath(settings.dashboards);
  const disk = createDisk(folder ?? '');
  const read = ({ path, visitor }: PageRequest) =>
    readDashboard(folder, decodePath(path.slice(dashboardsPath.length + 1)), visitor);
  return [
    {
      path: dashboardsPath,
      need: 'entry',
      get: servePageOfFiles(disk, ({ visitor }) => listDashboards(folder, visitor), log),
    },
    { path: `${dashboardsPath}/*`, need: 'entry', get: servePageOfFiles(disk, read, log) },
  ];
}
