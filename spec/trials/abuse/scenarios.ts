// The abuses by name, one file each.

import type { Scenario } from './scenario.ts';
import { churn, longFrames, manyClients, trickle, unfinishedFrames } from './scenarios/connections.ts';
import { lists, pageRequests, snapshots } from './scenarios/large-answers.ts';
import { manyFilters } from './scenarios/many-filters.ts';
import { manyFloods } from './scenarios/many-floods.ts';
import { patternLists } from './scenarios/pattern-lists.ts';
import { patternSubs } from './scenarios/pattern-subs.ts';
import { requestFlood } from './scenarios/request-flood.ts';
import { setErrors } from './scenarios/set-errors.ts';
import { pingFlood, plainFlood, v1PingFlood } from './scenarios/socket-flood.ts';
import { unreadAnswers } from './scenarios/unread-answers.ts';

export const scenarios: Readonly<Record<string, Scenario>> = {
  'plain-flood': plainFlood,
  'v1-ping-flood': v1PingFlood,
  'ping-flood': pingFlood,
  'request-flood': requestFlood,
  'many-floods': manyFloods,
  'unread-answers': unreadAnswers,
  'pattern-lists': patternLists,
  'pattern-subs': patternSubs,
  'many-filters': manyFilters,
  'set-errors': setErrors,
  lists,
  pages: pageRequests,
  snapshots,
  churn,
  trickle,
  'long-frames': longFrames,
  'unfinished-frames': unfinishedFrames,
  'many-clients': manyClients,
};
