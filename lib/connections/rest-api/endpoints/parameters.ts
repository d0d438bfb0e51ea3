// GET /hub/parameters: the list of all parameters, for clients that explore. It is streamed, and made in slices, between which other
// clients have theirs, whatever its filter finds.

import { z } from 'zod';
import type { Parameter } from '../../../model/parameter.ts';
import type { HttpRequest, HttpResponse } from '../../../net/uws.ts';
import { maxParameters } from '../../../wire/http/http-limits.ts';
import { type ParameterInfo, parameterList } from '../../../wire/http/parameter-shapes.ts';
import { texts } from '../../../wire/http/shape.ts';
import { toIsoTime } from '../../../wire/time.ts';
import { createFilter, type Filter } from '../filters/filter.ts';
import { acceptOf, wantsJsonErrors } from '../http/answer/accept.ts';
import { beginValue } from '../http/answer/headers.ts';
import { type Exchange, keepResponse } from '../http/exchange.ts';
import { readCount } from '../http/request-url.ts';
import { asHubError } from '../input/parse-input.ts';
import { shareOf } from '../limits/rates.ts';
import type { Task } from '../pacing/fair-queue.ts';
import { remoteAddressOf } from '../proxies/trusted-proxies.ts';
import { expectPresent } from '../users/present.ts';
import type { View } from '../users/view.ts';
import type { Visitor } from '../users/visitor.ts';
import type { Context, Endpoint } from './endpoint.ts';

export const endpoints: Endpoint[] = [
  {
    method: 'GET',
    path: '/hub/parameters',
    need: 'entry',
    id: 'listParameters',
    tag: 'parameters',
    summary: 'All parameters with state and metadata',
    query: z.object({
      address: texts.optional().describe('These parameters alone; those that there are not are left out'),
      filter: texts.optional().describe('RE2 patterns, one of which the address matches'),
      limit: z.int().min(1).max(maxParameters).optional().describe('How many at most'),
    }),
    answers: { 200: { description: 'The parameters', content: { 'application/json': parameterList } } },
    errors: { 400: 'A pattern that is none, or a limit' },
    serve: (context) => (response, request, visitor) =>
      context.queue.do(new ParameterList(context, visitor, response, request)),
  },
];

const chunkLength = 16 * 1024;
/** After so much work of its filter a list looks at the clock, of a quick one after at most so many parameters. */
const stepWork = 200;
const mostAtOnce = 32;

/**
 * Streams the list of parameters, a JSON array. `?address=<address>` asks for some by name, also if there are none of them.
 * `?filter=<regex>` narrows the list, and `?limit=<count>` ends it. The answer to one that makes no sense is `bad-request`.
 */
class ParameterList implements Task {
  readonly share: string;
  readonly line = undefined;
  readonly #context: Context;
  readonly #visitor: Visitor;
  readonly #query: URLSearchParams;
  readonly #asJson: boolean;
  readonly #exchange: Exchange;
  readonly #parameters: Iterator<Parameter>;
  #matches: Filter | undefined = undefined;
  /** How many more it may have. */
  #left = maxParameters;
  #chunk = '[';
  #separator = '\n';
  #hasBegun = false;

  constructor(context: Context, visitor: Visitor, response: HttpResponse, request: HttpRequest) {
    const { view } = visitor;
    const query = new URLSearchParams(request.getQuery() ?? '');
    const named = [...new Set(query.getAll('address'))].flatMap((address) => view.find(address) ?? []);
    this.share = shareOf(visitor, remoteAddressOf(response));
    this.#context = context;
    this.#visitor = visitor;
    this.#query = query;
    this.#parameters = (query.has('address') ? named : view.parameters())[Symbol.iterator]();
    this.#asJson = wantsJsonErrors(request.getUrl(), acceptOf(request));
    this.#exchange = keepResponse(response);
  }

  advance(endMs: number): boolean {
    try {
      this.#matches ??= this.#read();
      return this.#list(this.#matches, endMs);
    } catch (error) {
      this.#exchange.fail(asHubError(error, this.#context.log), this.#asJson);
      return false;
    }
  }

  /** Errors: `bad-request`. */
  #read(): Filter {
    this.#left = readCount(this.#query, 'limit', maxParameters, maxParameters);
    return createFilter(this.#query.getAll('filter'), this.#context.settings.limits.patternSteps);
  }

  /** Errors: `unauthorized` when the visitor has left since: values are read as they are sent. */
  #list(matches: Filter, endMs: number): boolean {
    expectPresent(this.#visitor);
    if (this.#exchange.isAborted) return false;
    const step = Math.min(mostAtOnce, Math.floor(stepWork / matches.work));
    for (let untilLook = step; ; untilLook--) {
      const { done, value: parameter } = this.#parameters.next();
      if (done || this.#left === 0) {
        this.#send((response) => response.end(`${this.#chunk}\n]\n`));
        return false;
      }
      if (matches(parameter.address)) {
        this.#chunk += this.#separator + JSON.stringify(describeParameter(parameter, this.#visitor.view));
        this.#separator = ',\n';
        this.#left--;
      }
      if (this.#chunk.length >= chunkLength && !this.#write()) return false;
      if (untilLook > 0) continue;
      untilLook = step;
      if (performance.now() >= endMs) return true;
    }
  }

  /** Returns whether the client can take more at once. */
  #write(): boolean {
    let isTaken = true;
    this.#send((response) => {
      isTaken = response.write(this.#chunk);
    });
    this.#chunk = '';
    if (!isTaken) void this.#exchange.writable().then(() => this.#context.queue.add(this));
    return isTaken;
  }

  #send(send: (response: HttpResponse) => void): void {
    this.#exchange.reply((response) => {
      if (!this.#hasBegun) beginValue(response, true);
      this.#hasBegun = true;
      send(response);
    });
  }
}

function describeParameter({ address, type, access, value, lastChange, remote }: Parameter, view: View): ParameterInfo {
  return {
    parameter: address,
    type,
    access,
    state: value === undefined ? 'unknown' : 'known',
    value,
    revision: lastChange?.revision,
    time: lastChange && toIsoTime(lastChange.time),
    origin: lastChange && view.tell(lastChange.origin),
    hub: remote?.hub,
    staleSince: remote?.staleSince === undefined ? undefined : toIsoTime(remote.staleSince),
  };
}
