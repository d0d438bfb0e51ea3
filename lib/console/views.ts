// The views of the console. Each view is a module that is loaded when the view is first opened.

import { type Component, lazy } from 'solid-js';
import { mayManage, me } from './hub/me.ts';
import type { Text } from './language/texts.ts';

export interface View {
  /** The view's name in the URL, as in `#/log`. */
  readonly name: string;
  readonly title: Text;
  /** The key that opens the view, pressed after `g`. */
  readonly key: string;
  /** The SVG path of the view's icon, in a 24 by 24 square. */
  readonly icon: string;
  /** true means that the view is reached only through links and is not listed in the menu. */
  readonly isHidden?: boolean;
  /** true means that the view requires the right to manage the hub. */
  readonly needsManage?: boolean;
  readonly component: Component;
}

const views: readonly View[] = [
  {
    name: 'start',
    title: 'Start',
    key: 'o',
    icon: 'M4 11l8-7 8 7M6.5 9.5V20h11V9.5M10 20v-6h4v6',
    component: lazy(() => import('./start/start-view.tsx')),
  },
  {
    name: 'alarms',
    title: 'Alarms',
    key: 'm',
    icon: 'M6 17V11a6 6 0 0 1 12 0v6l1.5 2h-15zM10 21.5h4M12 2.5V5',
    component: lazy(() => import('./alarms/alarms-view.tsx')),
  },
  {
    name: 'schedule',
    title: 'Schedule',
    key: 't',
    icon: 'M4 6h16v14H4zM4 10h16M8 3.5V7M16 3.5V7M8 14h4M12 17h4',
    component: lazy(() => import('./schedule/schedule-view.tsx')),
  },
  {
    name: 'connections',
    title: 'Connections',
    key: 'c',
    icon: 'M9 3v6M15 3v6M6 9h12v3a6 6 0 0 1-12 0zM12 18v3',
    needsManage: true,
    component: lazy(() => import('./connections/connections-view.tsx')),
  },
  {
    name: 'parameters',
    title: 'Parameters',
    key: 'p',
    icon: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 4.5v5M9 14.5v5',
    component: lazy(() => import('./parameters/parameters-view.tsx')),
  },
  {
    name: 'flows',
    title: 'Flows',
    key: 'f',
    icon: 'M3 5h6v5H3zM15 14h6v5h-6zM9 7.5h3v9h3',
    needsManage: true,
    component: lazy(() => import('./flows/flows-view.tsx')),
  },
  {
    name: 'why',
    title: 'Why',
    key: 'w',
    icon: 'M8.5 9a3.5 3.5 0 1 1 5 3.2c-1 .5-1.5 1.2-1.5 2.3M12 18.5v.5',
    component: lazy(() => import('./why/why-view.tsx')),
  },
  {
    name: 'history',
    title: 'History',
    key: 'h',
    icon: 'M4.5 8A8.5 8.5 0 1 1 3.5 13M4 3.5V8h4.5M12 7.5V12l3.5 2',
    component: lazy(() => import('./history/history-view.tsx')),
  },
  {
    name: 'audit',
    title: 'Audit',
    key: 'a',
    icon: 'M9 11a3.5 3.5 0 1 0 0-7a3.5 3.5 0 0 0 0 7M3 20c0-4 2.5-6 6-6 1.5 0 2.7.4 3.7 1M14 18.5l2.3 2.5 4.7-5',
    needsManage: true,
    component: lazy(() => import('./audit/audit-view.tsx')),
  },
  {
    name: 'log',
    title: 'Log',
    key: 'l',
    icon: 'M4 6h16M4 10h10M4 14h16M4 18h7',
    needsManage: true,
    component: lazy(() => import('./log/log-view.tsx')),
  },
  {
    name: 'snapshots',
    title: 'Snapshots',
    key: 'n',
    icon: 'M4 7h4l1.5-2.5h5L16 7h4v12H4zM12 10a3 3 0 1 0 0 6a3 3 0 0 0 0-6',
    component: lazy(() => import('./snapshots/snapshots-view.tsx')),
  },
  {
    name: 'clients',
    title: 'Clients',
    key: 's',
    icon: 'M3 5h18v11H3zM9 20h6M12 16v4',
    needsManage: true,
    component: lazy(() => import('./clients/clients-view.tsx')),
  },
  {
    name: 'hubs',
    title: 'Hubs',
    key: 'u',
    icon: 'M12 9a3 3 0 1 0 0 6a3 3 0 0 0 0-6M5 3a2 2 0 1 0 0 4a2 2 0 0 0 0-4M19 3a2 2 0 1 0 0 4a2 2 0 0 0 0-4M12 15v4M6.5 6.5L10 10M17.5 6.5L14 10',
    needsManage: true,
    component: lazy(() => import('./hubs/hubs-view.tsx')),
  },
  {
    name: 'users',
    title: 'Users',
    key: 'e',
    icon: 'M9 11a3.5 3.5 0 1 0 0-7a3.5 3.5 0 0 0 0 7M3 20c0-4 2.5-6 6-6s6 2 6 6M16 4.5a3.5 3.5 0 0 1 0 6M18 14.5c2 .8 3 2.7 3 5.5',
    needsManage: true,
    component: lazy(() => import('./users/users-view.tsx')),
  },
  {
    name: 'dashboards',
    title: 'Dashboards',
    key: 'd',
    icon: 'M4 15a8 8 0 1 1 16 0M12 15l4-5M4 19h16',
    component: lazy(() => import('./dashboard/dashboards-view.tsx')),
  },
  {
    name: 'driver',
    title: 'Driver',
    key: '',
    icon: '',
    isHidden: true,
    needsManage: true,
    component: lazy(() => import('./drivers/driver-view.tsx')),
  },
  {
    name: 'rule',
    title: 'Rule',
    key: '',
    icon: '',
    isHidden: true,
    component: lazy(() => import('./editor/rule-sheet.tsx')),
  },
  {
    name: 'studio',
    title: 'Panel studio',
    key: '',
    icon: '',
    isHidden: true,
    component: lazy(() => import('./studio/studio-view.tsx')),
  },
  {
    name: 'recipes',
    title: 'Recipes',
    key: '',
    icon: '',
    isHidden: true,
    component: lazy(() => import('./editor/recipes-view.tsx')),
  },
  {
    name: 'overrides',
    title: 'Overrides',
    key: '',
    icon: 'M12 3v8M7 5.5a8 8 0 1 0 10 0',
    isHidden: true,
    needsManage: true,
    component: lazy(() => import('./overrides/overrides-view.tsx')),
  },
  {
    name: 'revisions',
    title: 'Revisions',
    key: '',
    icon: '',
    isHidden: true,
    component: lazy(() => import('./editor/revisions-view.tsx')),
  },
];

/** Returns the views that the menu lists, among those that the user may see. */
export function listedViews(): readonly View[] {
  return offeredViews().filter(({ isHidden = false }) => !isHidden);
}

/** Returns the views that the user may see. A kiosk that is tied to a dashboard sees nothing else. */
export function offeredViews(): readonly View[] {
  const isKiosk = me()?.kiosk !== undefined;
  return views.filter(({ name, needsManage = false }) =>
    isKiosk ? name === 'dashboards' : !needsManage || mayManage(),
  );
}

export function viewNamed(name: string): View | undefined {
  return views.find((one) => one.name === name);
}
