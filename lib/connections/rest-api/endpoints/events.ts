// GET /hub/events/<address>: the events of a parameter, with their origins and causes.

import { z } from 'zod';
import { eventList } from '../../../wire/http/past-shapes.ts';
import type { EventsQuestion } from '../../persistence.ts';
import { readQuery } from '../input/parse-input.ts';
import { decodePath } from '../input/request-path.ts';
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

const shape = z.object({
  ...rangeShape('00000'),
  limit: entryLimit,
  before: z
    .string()
    .regex(/^[0-9]{1,16}-[0-9]{1,16}$/, { error: 'the next of an earlier answer' })
    .optional()
    .describe('Only older events: `next` of an earlier answer'),
});

export const endpoints = [
  pastPage({
    path: '/hub/events/{address}',
    need: 'entry',
    id: 'listEvents',
    tag: 'past',
    summary: 'The events of a parameter with their origins and causes, newest first',
    names: { address: 'Parameter address' },
    query: shape,
    answer: eventList,
    read: readEventsQuestion,
  }),
];

/**
 * Parses the query for the events of a parameter. Without `from` and `to`, the range covers all of time; the newest events come first.
 * Errors: `bad-address`, `bad-request`.
 */
function readEventsQuestion(_: PastContext, { rest, query, principal }: PastRequest): EventsQuestion {
  const address = decodePath(rest);
  const asked = readQuery(shape, query);
  const [time, revision] = (asked.before?.split('-') ?? []).map(Number) as [number?, number?];
  return {
    ask: 'events',
    parameter: askedOf(address, principal),
    sight: sightOf(principal),
    ...readRange(asked, endOfTime),
    limit: asked.limit,
    before: time === undefined ? undefined : { time, revision: revision! },
  };
}
