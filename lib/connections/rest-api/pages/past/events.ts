// GET /hub/events/<address>: what happened to a parameter, who did it and why.

import { describe, HubError } from '../../../../model/error.ts';
import { maxEntries, usualEntries } from '../../../../wire/http/limits.ts';
import type { EventsQuestion } from '../../../archive.ts';
import { addressBelow, askedOf, endOfTime, readCount, readRange, sightOf } from './range.ts';
import type { PastContext, PastRequest } from './serve-past.ts';

export const eventsPath = '/hub/events/';

/** Left out, `from` and `to` are the beginning and the end of all time: the newest are told first. Errors: `bad-address`, `bad-request`. */
export function readEventsQuestion(_: PastContext, { path, query, visitor }: PastRequest): EventsQuestion {
  const address = addressBelow(eventsPath, path);
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
