// The routes to what was, as far as a store knows.

import type { Route } from '../http/router.ts';
import { PastShares } from '../limits/past-shares.ts';
import { auditPath, readAuditQuestion } from '../pages/past/audit.ts';
import { eventsPath, readEventsQuestion } from '../pages/past/events.ts';
import { historyPath, readHistoriesQuestion, readHistoryQuestion } from '../pages/past/history.ts';
import { type PastContext, servePast } from '../pages/past/serve-past.ts';
import type { RouteContext } from './route-context.ts';

export function pastRoutes({ hub, settings, queue, log }: RouteContext): Route[] {
  const past: PastContext = { hub, queue, log, shares: new PastShares(), patternSteps: settings.limits.patternSteps };
  return [
    { path: historyPath, need: 'entry', get: servePast(past, readHistoriesQuestion) },
    { path: `${historyPath}/*`, need: 'entry', get: servePast(past, readHistoryQuestion) },
    { path: `${eventsPath}*`, need: 'entry', get: servePast(past, readEventsQuestion) },
    { path: auditPath, need: 'manage', get: servePast(past, readAuditQuestion) },
  ];
}
