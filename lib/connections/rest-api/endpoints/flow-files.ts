// What the last load of the flow files said, reloads, and what would have been done in shadow.

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
    summary: 'The flow files, and what the last load or reload said of each',
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
    summary: 'Reads the flow files again, and takes over what has changed, or runs it in shadow',
    isTraced: true,
    body: reloadRequest,
    answer: reloadAnswer,
    answered: 'What was swapped, or what runs in shadow',
    errors: { 409: 'There are mistakes, or a connection cannot start: all runs on as it was' },
    async act({ hub }, { shadow = false }, { by, principal }) {
      const answer = await reload(hub, by, shadow);
      // It takes a while, and tells values. Whoever has changed their own rights is told what was swapped all the same.
      if (shadow) expectPresent(principal);
      return answer;
    },
  }),
  page({
    path: '/hub/shadow',
    need: 'manage',
    id: 'readShadow',
    tag: 'operation',
    summary: 'What rules in shadow would have done, beside what was done',
    answer: shadowReport,
    read: ({ hub }) => shadowOf(hub),
  }),
];

function shadowOf(hub: HubPort): ShadowReport {
  const report = hub.shadow();
  if (report !== undefined) return describe(report);
  const since = toIsoTime(hub.startedAt);
  return { kind: 'none', since, rules: [], left: [], notInShadow: [], parameters: [], count: 0, deviations: [] };
}

/** Errors: `conflict` with every mistake of the flow files; then all runs on as it was. */
async function reload(hub: HubPort, by: Origin, inShadow: boolean): Promise<ReloadAnswer> {
  try {
    return inShadow ? { shadow: describe(await hub.reloadInShadow(by)) } : { swapped: await hub.reload(by) };
  } catch (error) {
    throw new HubError('conflict', `reload failed: ${messageOf(error)}`);
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
