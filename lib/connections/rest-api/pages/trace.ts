// GET /hub/trace?rule=<name>: the last runs of a rule.

import { HubError } from '../../../model/error.ts';
import type { RuleTraces } from '../../../wire/http/operation.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { HubPort } from '../../hub-port.ts';

/** The last runs of each rule of the name. Errors: `bad-request`, `not-found`. */
export function traceRule(hub: HubPort, query: string): RuleTraces {
  const [rule, ...more] = new URLSearchParams(query).getAll('rule');
  if (rule === undefined || more.length > 0)
    throw new HubError('bad-request', `query: expected rule=<name> once, got ${rule === undefined ? 'none' : 'more'}`);
  return hub.runsOf(rule).map(({ runs, ...trace }) => ({
    ...trace,
    runs: runs.map((run) => ({ ...run, time: toIsoTime(run.time) })),
  }));
}
