// GET /hub/history/<address>: what a parameter was. GET /hub/history?filter=<regex>: what several were.

import { z } from 'zod';
import { describe, HubError } from '../../../model/error.ts';
import type { Parameter } from '../../../model/parameter.ts';
import { maxListPoints, maxPoints, usualPoints } from '../../../wire/http/http-limits.ts';
import { history, historyList } from '../../../wire/http/past-shapes.ts';
import { text, texts } from '../../../wire/http/shape.ts';
import type { AskedParameter, HistoryQuestion } from '../../keeping.ts';
import { createFilter, type Filter } from '../filters/filter.ts';
import { decodePath, readCount } from '../http/request-url.ts';
import type { Task } from '../pacing/fair-queue.ts';
import { askedOf, type PastContext, type PastRequest, pastPage, rangeShape, readRange, sightOf } from './past.ts';

const course = {
  ...rangeShape('-1h'),
  points: z.int().min(1).max(maxPoints).default(usualPoints).describe('How many points at most, about'),
  format: z.enum(['json', 'csv']).default('json').describe('As Accept: text/csv'),
};

export const endpoints = [
  pastPage({
    path: '/hub/history',
    need: 'entry',
    id: 'listHistories',
    tag: 'past',
    summary: `What several parameters were; together they have at most ${maxListPoints.toLocaleString('en')} points`,
    query: z.object({
      address: texts.optional().describe('These parameters alone'),
      filter: texts.optional().describe('RE2 patterns, one of which the address matches'),
      after: text.optional().describe('Only those behind this address: the last one of an answer that had more'),
      ...course,
    }),
    answer: historyList,
    isTable: true,
    read: readHistoriesQuestion,
  }),
  pastPage({
    path: '/hub/history/{address}',
    need: 'entry',
    id: 'readHistory',
    tag: 'past',
    summary: 'What a parameter was',
    names: { address: 'Address of the parameter' },
    query: z.object(course),
    answer: history,
    isTable: true,
    read: readHistoryQuestion,
  }),
];

/** A list has so many histories at most. */
const maxHistories = 10_000;

/** Errors: `bad-address`, `bad-request`. */
function readHistoryQuestion(_: PastContext, { rest, query, accept, visitor }: PastRequest): HistoryQuestion {
  const address = decodePath(rest);
  const parameters = [askedOf(address, visitor)];
  return { ask: 'history', parameters, sight: sightOf(visitor), list: undefined, ...readCourse(query, accept) };
}

/**
 * `?address=<address>` asks for some by name, `?filter=<regex>` for those that match. `?after=<address>` goes on behind the last one
 * of an answer that had more. Errors: `bad-request`.
 */
export async function readHistoriesQuestion(context: PastContext, request: PastRequest): Promise<HistoryQuestion> {
  const { query, accept } = request;
  const course = readCourse(query, accept);
  const most = Math.min(maxHistories, Math.floor(maxListPoints / course.points));
  const parameters = await new Promise<AskedParameter[]>((resolve, reject) => {
    context.queue.do(new Search(request, context.settings.limits.patternSteps, most + 1, resolve, reject));
  });
  const hasMore = parameters.length > most;
  return { ask: 'history', parameters: parameters.slice(0, most), list: { hasMore }, ...course };
}

function readCourse(
  query: URLSearchParams,
  accept: string,
): Pick<HistoryQuestion, 'from' | 'to' | 'points' | 'format'> {
  const points = readCount(query, 'points', usualPoints, maxPoints);
  return { ...readRange(query, '-1h'), points, format: readFormat(query.get('format'), accept) };
}

function readFormat(text: string | null, accept: string): HistoryQuestion['format'] {
  if (text === null) return /\btext\/csv\b/i.test(accept) ? 'csv' : 'json';
  if (text === 'json' || text === 'csv') return text;
  throw new HubError('bad-request', `format: expected json or csv, got ${describe(text)}`);
}

/** Looks for the parameters of a list, in slices, between which other clients have theirs. */
class Search implements Task {
  readonly share: string;
  readonly line = undefined;
  readonly #patterns: readonly string[];
  readonly #patternSteps: number;
  readonly #parameters: Iterator<AskedParameter | Parameter>;
  readonly #most: number;
  readonly #found: (parameters: AskedParameter[]) => void;
  readonly #failed: (error: unknown) => void;
  readonly #list: AskedParameter[] = [];
  #after: string | null;
  #matches: Filter | undefined;

  constructor(
    { query, share, visitor: { view } }: PastRequest,
    patternSteps: number,
    most: number,
    found: (parameters: AskedParameter[]) => void,
    failed: (error: unknown) => void,
  ) {
    const named = [...new Set(query.getAll('address'))]
      .filter((name) => view.mayAskFor(name))
      .map((name) => ({ address: name, type: view.find(name)?.type }));
    this.share = share;
    this.#patterns = query.getAll('filter');
    this.#patternSteps = patternSteps;
    this.#parameters = (query.has('address') ? named : view.parameters())[Symbol.iterator]();
    this.#after = query.get('after');
    this.#most = most;
    this.#found = found;
    this.#failed = failed;
  }

  advance(endMs: number): boolean {
    try {
      this.#matches ??= createFilter(this.#patterns, this.#patternSteps);
      do {
        const { done, value } = this.#parameters.next();
        if (done || this.#list.length === this.#most) {
          this.#found(this.#list);
          return false;
        }
        const { address } = value;
        if (this.#after !== null) this.#after = address === this.#after ? null : this.#after;
        else if (this.#matches(address)) this.#list.push(value);
      } while (performance.now() < endMs);
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    }
  }
}
