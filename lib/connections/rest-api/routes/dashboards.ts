// The routes to dashboards.

import { createDisk } from '../files/disk.ts';
import { decodePath } from '../http/path.ts';
import type { Route } from '../http/router.ts';
import { listDashboards, readDashboard } from '../pages/dashboards.ts';
import { type PageRequest, servePageOfFiles } from '../pages/page.ts';
import type { RouteContext } from './route-context.ts';

const dashboardsPath = '/hub/dashboards';

export function dashboardRoutes(context: RouteContext): Route[] {
  const { log } = context;
  const folder = dashboardFolderOf(context);
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

/** undefined: there is none. */
export function dashboardFolderOf({ settings, resolvePath }: RouteContext): string | undefined {
  return settings.dashboards === '' ? undefined : resolvePath(settings.dashboards);
}
