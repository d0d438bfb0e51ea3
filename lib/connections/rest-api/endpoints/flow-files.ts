// GET /hub/files: the flow files, with the result of the last load or reload of each. POST /hub/reload: reloads the flow files. GET
// /hub/shadow: the differences found by rules in shadow.

import { HubError, messageOf } from '../../../model/error.ts';
import type { Origin } from '../../../model/parameter.ts';
import type * as model from '../../../model/reports/reload-report.ts';
import {
  loadReport,
  type ReloadAnswer,
  reloadAnswer,
  reloadRequest,
  type ShadowReport,
  shadowReport,
} from '../../../wire/http/operation.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { HubPort } from '../../hub-port.ts';
import { expectPresent } from '../users/view.ts';
import { action, page } from './endpoint.ts';

export const endpoints = [
  page({
    path: '/hub/files',
    need: 'manage',
    id: 'listFiles',
    tag: 'operation',
    summary: 'The flow files, with the result of the last load or reload of each',
    answer: loadReport,
    read({ hub }) {
      const { time, isLoaded, reason, files } = hub.files();
      return { time: toIsoTime(time), loaded: isLoaded, reason, files };
    },
  }),
  action({
    path: '/hub/reload',
    need: 'manage',
    id: 'reload',
    tag: 'operation',
    summary: 'Reads the flow files again, and applies the changes or runs them in shadow',
    isTraced: true,
    body: reloadRequest,
    answer: reloadAnswer,
    answered: 'The changes that the hub applied or runs in shadow',
    errors: {
      409: 'The flow files have errors, or a connection cannot start: the previous configuration remains active',
    },
    async act({ hub }, { shadow = false }, { by, principal }) {
      const answer = await reload(hub, by, shadow);
      // A reload in shadow answers with values. Users who have changed their own rights still get the result of a normal reload.
      if (shadow) expectPresent(principal);
      return answer;
    },
  }),
  page({
    path: '/hub/shadow',
    need: 'manage',
    id: 'readShadow',
    tag: 'operation',
    summary: 'The writes that rules in shadow would have made, next to the actual ones',
    answer: shadowReport,
    read: ({ hub }) => shadowOf(hub),
  }),
];

function shadowOf(hub: HubPort): ShadowReport {
  const report = hub.shadow();
  if (report !== undefined) return describeShadow(report);
  const since = toIsoTime(hub.startedAt);
  return { kind: 'none', since, rules: [], left: [], notInShadow: [], parameters: [], count: 0, deviations: [] };
}

/** Reloads the flow files. Errors: `conflict` with all errors in the flow files; the previous configuration then remains active. */
async function reload(hub: HubPort, by: Origin, inShadow: boolean): Promise<ReloadAnswer> {
  try {
    return inShadow ? { shadow: describeShadow(await hub.reloadInShadow(by)) } : { swapped: await hub.reload(by) };
  } catch (error) {
    throw new HubError('conflict', `reload failed: ${messageOf(error)}`);
  }
}

/** Converts a report on rules in shadow to the form that clients receive, with ISO 8601 times. */
export function describeShadow({ since, deviations, ...report }: model.ShadowReport): ShadowReport {
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
