// GET /hub/parameters: the list of all parameters, for clients that explore.

import { z } from 'zod';
import { type Parameter, staleSinceOf } from '../../../model/parameter.ts';
import { maxParameters } from '../../../wire/http/http-limits.ts';
import { type ParameterInfo, parameterList } from '../../../wire/http/parameter-shapes.ts';
import { texts } from '../../../wire/http/shape.ts';
import { toIsoTime } from '../../../wire/time.ts';
import { createFilter } from '../filters/filter.ts';
import { Lines, type PageRequest } from '../http/page.ts';
import { countUpTo } from '../http/request-url.ts';
import { readQuery } from '../input/parse-input.ts';
import type { View } from '../users/view.ts';
import { type Context, page } from './endpoint.ts';

const shape = z.object({
  address: texts.optional().describe('These parameters alone; those that there are not are left out'),
  filter: texts.default([]).describe('RE2 patterns, one of which the address matches'),
  limit: countUpTo(maxParameters).optional().describe('How many at most'),
});

export const endpoints = [
  page({
    path: '/hub/parameters',
    need: 'entry',
    id: 'listParameters',
    tag: 'parameters',
    summary: 'All parameters with state and metadata',
    query: shape,
    answer: parameterList,
    errors: { 400: 'A pattern that is none, or a limit' },
    read: (context, request) => new Lines(listParameters(context, request)),
  }),
];

/** After so much work of its filter a list looks at the clock, of a quick one after at most so many parameters. */
const stepWork = 200;
const mostAtOnce = 32;

/**
 * The list of parameters, as far as it is asked for; undefined: time has passed. `?address=<address>` asks for some by name, also if there
 * are none of them. `?filter=<regex>` narrows the list, and `?limit=<count>` ends it. Errors: `bad-request`.
 */
function* listParameters(
  { settings }: Context,
  { query, principal: { view } }: PageRequest,
): Generator<ParameterInfo | undefined, void> {
  const { address: names, filter, limit: most = maxParameters } = readQuery(shape, new URLSearchParams(query));
  const matches = createFilter(filter, settings.limits.patternSteps);
  const named = names && [...new Set(names)].flatMap((address) => view.find(address) ?? []);
  const step = Math.max(1, Math.min(mostAtOnce, Math.floor(stepWork / matches.work)));
  let [looked, listed] = [0, 0];
  for (const parameter of named ?? view.parameters()) {
    if (matches(parameter.address)) {
      yield describeParameter(parameter, view);
      if (++listed === most) return;
    }
    if (++looked % step === 0) yield undefined;
  }
}

function describeParameter(parameter: Parameter, view: View): ParameterInfo {
  const { address, type, access, value, lastChange, remote, wanted, about } = parameter;
  const staleSince = staleSinceOf(parameter);
  return {
    parameter: address,
    type,
    access,
    state: value === undefined ? 'unknown' : 'known',
    value,
    revision: lastChange?.revision,
    time: lastChange && toIsoTime(lastChange.time),
    origin: lastChange && view.show(lastChange.origin),
    hub: remote?.hub,
    staleSince: staleSince === undefined ? undefined : toIsoTime(staleSince),
    wanted: wanted?.value,
    about,
  };
}
