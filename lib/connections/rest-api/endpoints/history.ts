// GET /hub/history/<address>: past values of a parameter. GET /hub/history?filter=<regex>: past values of several parameters.

import { z } from 'zod';
import { history, historyList } from '../../../wire/http/past-shapes.ts';
import { text, texts } from '../../../wire/http/shape.ts';
import { maxListPoints, maxPoints, usualPoints } from '../../../wire/limits.ts';
import type { AskedParameter, HistoryQuestion } from '../../persistence.ts';
import { createFilter } from '../filters/filter.ts';
import { countUpTo } from '../http/request-url.ts';
import { readQuery } from '../input/parse-input.ts';
import { decodePath } from '../input/request-path.ts';
import type { Principal } from '../users/principal.ts';
import { askedOf, type PastContext, type PastRequest, pastPage, rangeShape, readRange, sightOf } from './past.ts';

const course = z.object({
  ...rangeShape('-1h'),
  points: countUpTo(maxPoints).default(usualPoints).describe('Approximate maximum number of points'),
  format: z
    .enum(['json', 'csv'], { error: 'json or csv' })
    .optional()
    .describe('The format of the response; default: as requested by the Accept header'),
});
const listed = course.extend({
  address: texts.optional().describe('Only these parameters'),
  filter: texts.optional().describe('Only parameters whose address matches one of these RE2 patterns'),
  after: text.optional().describe('Only parameters after this address: the last address of an incomplete answer'),
});

export const endpoints = [
  pastPage({
    path: '/hub/history',
    need: 'entry',
    id: 'listHistories',
    tag: 'past',
    summary: `Past values of several parameters, together at most ${maxListPoints.toLocaleString('en')} points`,
    query: listed,
    answer: historyList,
    isTable: true,
    read: readHistoriesQuestion,
  }),
  pastPage({
    path: '/hub/history/{address}',
    need: 'entry',
    id: 'readHistory',
    tag: 'past',
    summary: 'Past values of a parameter',
    names: { address: 'Parameter address' },
    query: course,
    answer: history,
    isTable: true,
    read: readHistoryQuestion,
  }),
];

/** The maximum number of parameters in one answer with several histories. */
const maxHistories = 10_000;

/** Parses the query for the history of one parameter. Errors: `bad-address`, `bad-request`. */
function readHistoryQuestion(_: PastContext, { rest, query, accept, principal }: PastRequest): HistoryQuestion {
  const address = decodePath(rest);
  const asked = courseOf(readQuery(course, query), accept);
  return {
    ask: 'history',
    parameters: [askedOf(address, principal)],
    sight: sightOf(principal),
    list: undefined,
    ...asked,
  };
}

/**
 * Parses the query for several histories. `?address=<address>` selects parameters by name, `?filter=<regex>` by pattern. `?after=<address>`
 * continues after the last address in an incomplete answer. Errors: `bad-request`.
 */
export async function readHistoriesQuestion(context: PastContext, request: PastRequest): Promise<HistoryQuestion> {
  const query = readQuery(listed, request.query);
  const asked = courseOf(query, request.accept);
  const most = Math.min(maxHistories, Math.floor(maxListPoints / asked.points));
  const search = searchFor(query, request.principal, context.settings.limits.patternSteps, most + 1);
  const parameters = await context.queue.run(request.share, search);
  const hasMore = parameters.length > most;
  return { ask: 'history', parameters: parameters.slice(0, most), list: { hasMore }, ...asked };
}

function courseOf({ points, format, ...range }: z.output<typeof course>, accept: string) {
  const accepted = /\btext\/csv\b/i.test(accept) ? 'csv' : 'json';
  return { ...readRange(range), points, format: format ?? accepted } as const;
}

/** Finds the parameters for several histories, and yields after each parameter that was examined. Errors: `bad-request`. */
function* searchFor(
  { address: names, filter = [], after }: z.output<typeof listed>,
  { view }: Principal,
  patternSteps: number,
  most: number,
): Generator<undefined, AskedParameter[]> {
  const matches = createFilter(filter, patternSteps);
  const named = names && [...new Set(names)].filter((name) => view.mayAskFor(name));
  const found: AskedParameter[] = [];
  let isBehind = after === undefined;
  for (const one of named?.map((name) => ({ address: name, type: view.find(name)?.type })) ?? view.parameters()) {
    if (found.length === most) break;
    if (!isBehind) isBehind = one.address === after;
    else if (matches(one.address)) found.push(one);
    yield;
  }
  return found;
}
