// GET /hub/shadow and POST /hub/reload: what runs in shadow, and what would have been done there.

import { HubError, messageOf } from '../../../model/error.ts';
import type * as model from '../../../model/reports/reload-report.ts';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import { type ReloadAnswer, reloadRequest, type ShadowReport } from '../../../wire/http/operation.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { HubPort } from '../../hub-port.ts';
import { answerPost } from '../http/answer-post.ts';
import { expectPresent } from '../users/present.ts';
import type { Operation } from './operation.ts';

export function shadowOf(hub: HubPort): ShadowReport {
  const report = hub.shadow();
  if (report !== undefined) return describe(report);
  const since = toIsoTime(hub.startedAt);
  return { kind: 'none', since, rules: [], left: [], notInShadow: [], parameters: [], count: 0, deviations: [] };
}

/**
 * `POST /hub/reload`, `{"shadow":true}`. Errors: `conflict` with every mistake of the flow files; then all runs on as it was. Whoever has
 * changed their own rights by it is told what was swapped all the same.
 */
export function reloadHub(
  { hub, log, queue, by, visitor }: Operation,
  response: HttpResponse,
  request: HttpRequest,
): void {
  answerPost({ response, request, visitor, queue, log }, reloadRequest, async ({ shadow = false }) => {
    const answer = await reload(hub, by, shadow);
    if (shadow) expectPresent(visitor); // it takes a while, and tells values
    return answer;
  });
}

async function reload(hub: HubPort, by: Operation['by'], inShadow: boolean): Promise<ReloadAnswer> {
  try {
    return inShadow ? { shadow: describe(await hub.reloadInShadow(by)) } : { swapped: await hub.reload(by) };
  } catch (error) {
    throw new HubError('conflict', `not reloaded: ${messageOf(error)}`);
  }
}

function describe({ since, deviations, ...report }: model.ShadowReport): ShadowReport {
  return {
    ...report,
    since: toIsoTime(since),
    deviations: deviations.map(({ time, address, ...rest }) => ({
      time: toIsoTime(time),
      parameter: address,
      ...rest,
    })),
  };
}
