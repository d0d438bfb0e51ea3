// GET /hub/changes: the most recently changed parameters, with the author of each change.

import { z } from 'zod';
import { type RecentChange, type RecentChanges, recentChanges } from '../../../wire/http/parameter-shapes.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { HubPort } from '../../hub-port.ts';
import { countUpTo } from '../http/request-url.ts';
import { readQuery } from '../input/parse-input.ts';
import type { View } from '../users/view.ts';
import { page } from './endpoint.ts';

const maxSeconds = 86_400;
const maxChanges = 1000;
const usualChanges = 200;
/**
 * The maximum number of parameters to examine per request. It is higher than `maxChanges`, because a user may be permitted to read only a
 * few of the changed parameters.
 */
const maxLooked = 20_000;
/**
 * The number of changes from before the period after which the search ends: only restored and mirrored values are out of chronological
 * order.
 */
const maxEarlier = 2000;

const shape = z.object({
  seconds: countUpTo(maxSeconds).default(60).describe('Length of the period up to now'),
  limit: countUpTo(maxChanges).default(usualChanges).describe('Maximum number of changes'),
});

// Meters are left out, because they change all the time and would drown out everything else.
export const endpoints = [
  page({
    path: '/hub/changes',
    need: 'entry',
    id: 'listChanges',
    tag: 'causes',
    summary: 'The most recently changed parameters except meters, newest first, with the author of each change',
    query: shape,
    answer: recentChanges,
    errors: { 400: 'The period or the limit is not valid' },
    read({ hub }, { query, principal: { view } }) {
      const { seconds, limit } = readQuery(shape, new URLSearchParams(query));
      return changesSince(hub, view, Date.now() - seconds * 1000, limit);
    },
  }),
];

function changesSince(hub: HubPort, view: View, fromMs: number, most: number): RecentChanges {
  const changes: RecentChange[] = [];
  let [looked, earlier, isComplete] = [0, 0, true];
  for (const { address, type, lastChange, value, about } of hub.newestFirst()) {
    if (lastChange === undefined || value === undefined || about?.class === 'meter') continue;
    if (lastChange.time < fromMs) {
      if (++earlier > maxEarlier) break;
      continue;
    }
    const isReadable = view.mayRead(address); // parameters that the user may not read must not make the list incomplete
    isComplete = ++looked <= maxLooked && (!isReadable || changes.length < most);
    if (!isComplete) break;
    if (!isReadable) continue;
    const { previous, time, origin } = lastChange;
    changes.push({
      ...{ parameter: address, type, value, time: toIsoTime(time), origin: view.show(origin) },
      ...(previous !== undefined && { previous }),
      ...(about?.unit !== undefined && { unit: about.unit }),
    });
  }
  changes.sort((one, other) => Date.parse(other.time) - Date.parse(one.time));
  return { from: toIsoTime(fromMs), isComplete, changes };
}
