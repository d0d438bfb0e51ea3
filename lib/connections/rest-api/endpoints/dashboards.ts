// GET /hub/dashboards: the dashboards of the console, by name. GET /hub/dashboard-schema: the JSON Schema of dashboards.

import { z } from 'zod';
import type { Dashboard } from '../../../dashboard/format.ts';
import { dashboardJsonSchema } from '../../../dashboard/parse-dashboard.ts';
import { dashboardList } from '../../../wire/http/operation.ts';
import { named } from '../../../wire/http/shape.ts';
import { decodePath } from '../input/request-path.ts';
import { badPath, page } from './endpoint.ts';

export const endpoints = [
  page({
    path: '/hub/dashboards',
    need: 'entry',
    id: 'listDashboards',
    tag: 'operation',
    summary: 'The names of the dashboards',
    answer: dashboardList,
    read: ({ dashboards }, { principal }) => dashboards.list(principal),
  }),
  page({
    path: '/hub/dashboard-schema',
    need: 'entry',
    id: 'readDashboardSchema',
    tag: 'operation',
    summary: 'The JSON Schema of dashboards, with the types of widgets and their settings',
    answer: named('DashboardSchema', z.custom<object>().meta({ type: 'object' })),
    read: () => dashboardJsonSchema(),
  }),
  page({
    path: '/hub/dashboards/{name}',
    need: 'entry',
    id: 'readDashboard',
    tag: 'operation',
    summary: 'A checked dashboard with all defaults filled in',
    names: { name: 'Name of the dashboard' },
    answer: named('Dashboard', z.custom<Dashboard>().meta({ type: 'object' })),
    errors: {
      400: badPath,
      404: 'Dashboard not found',
      500: 'The file has errors; the answer lists each with line and column',
    },
    read: ({ dashboards }, { principal }, rest) => dashboards.read(decodePath(rest), principal),
  }),
];
