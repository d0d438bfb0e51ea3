// GET /hub/events/<address>: what happened to a parameter, who did it and why.

import { z } from 'zod';
import { describe, HubError } from '../../../model/error.ts';
import { maxEntries, usualEntries } from '../../../wire/http/http-limits.ts';
import { eventList } from '../../../wire/http/past-shapes.ts';
import { text } from '../../../wire/http/shape.ts';
import type { EventsQuestion } from '../../keeping.ts';
import { decodePath, readCount } from '../http/request-url.ts';
import {
  askedOf,
  endOfTime,
  entryLimit,
  type PastContext,
  type PastRequest,
  pastPage,
  rangeShape,
  readRange,
  sightOf,
} from './past.ts';

export const endpoints = [
  pastPage({
    path: '/hub/events/{address}',
    need: 'entry',
    id: 'listEvents',
    tag: 'past',
    summary: 'What happened to a parameter, who did it and why, newest first',
    names: { address: 'Address of the parameter' },
    query: z.object({
      ...rangeShape('00000'),
      limit: entryLimit,
      before: text.optional().describe('Only older ones: `next` of an answer'),
    }),
    answer: eventList,
    read: readEventsQuestion,
  }),
];

/** Left out, `from` and `to` are the beginning and the end of all time: the newest are told first. Errors: `bad-address`, `bad-request`. */
function readEventsQuestion(_: PastContext, { rest, query, visitor }: PastRequest): EventsQuestion {
  const address = decodePath(rest);
  return {
    ask: 'events',
    parameter: askedOf(address, visitor),
    sight: sightOf(visitor),
    ...readRange(query, '00000', endOfTime),
    limit: readCount(query, 'limit', usualEntries, maxEntries),
    before: readCursor(query.get('before')),
  };
}

function readCursor(text: string | null): EventsQuestion['before'] {
  if (text === null) return undefined;
  const [, time, revision] = /^(\d{1,16})-(\d{1,16})$/.exec(text) ?? [];
  if (time === undefined)
    throw new HubError('bad-request', `before: expected what next of an earlier answer says, got ${describe(text)}`);
  return { time: Number(time), revision: Number(revision) };
}
