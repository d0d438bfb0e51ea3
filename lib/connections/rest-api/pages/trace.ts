// GET /hub/trace?rule=<name>: the last runs of a rule.

import { HubError } from '../../../model/error.ts';
import type { HubPort } from '../../hub-port.ts';

/** A list with one entry per rule of the name, `[{"rule":…,"file":…,"count":…,"runs":[…]}]`; 404 without any. */
export function traceRule(hub: HubPort, query: string): object {
  const [rule, ...more] = new URLSearchParams(query).getAll('rule');
  if (rule === undefined || more.length > 0)
    throw new HubError('bad-request', `query: expected rule=<name> once, got ${rule === undefined ? 'none' : 'more'}`);
  return hub.runsOf(rule).map(({ runs, ...trace }) => ({
    ...trace,
    runs: runs.map((run) => ({ ...run, time: new Date(run.time).toISOString() })),
  }));
}
