// GET /hub/parameters: the list of all parameters, for clients that explore.

import { z } from 'zod';
import { type Parameter, staleSinceOf } from '../../../model/parameter.ts';
import { type ParameterInfo, parameterList } from '../../../wire/http/parameter-shapes.ts';
import { texts } from '../../../wire/http/shape.ts';
import { maxParameters } from '../../../wire/limits.ts';
import { toIsoTime } from '../../../wire/time.ts';
import { createFilter } from '../filters/filter.ts';
import { Lines, type PageRequest } from '../http/page.ts';
import { countUpTo } from '../http/request-url.ts';
import { readQuery } from '../input/parse-input.ts';
import type { View } from '../users/view.ts';
import { type Context, page } from './endpoint.ts';

const shape = z.object({
  address: texts.optional().describe('Only these parameters; unknown addresses are ignored'),
  filter: texts.default([]).describe('Only parameters whose address matches one of these RE2 patterns'),
  limit: countUpTo(maxParameters).optional().describe('Maximum number of parameters'),
});

export const endpoints = [
  page({
    path: '/hub/parameters',
    need: 'entry',
    id: 'listParameters',
    tag: 'parameters',
    summary: 'All parameters with their states and metadata',
    query: shape,
    answer: parameterList,
    errors: { 400: 'A pattern or the limit is not valid' },
    read: (context, request) => new Lines(listParameters(context, request)),
  }),
];

/**
 * The filter work between two checks of the clock, in the unit of `Filter.work`. With a quick filter, the clock is checked every
 * `mostAtOnce` parameters.
 */
const stepWork = 200;
const mostAtOnce = 32;

/**
 * Yields the requested parameters, and undefined whenever it is time to check the clock. `?address=<address>` selects parameters by name
 * and ignores unknown names, `?filter=<regex>` selects by pattern, and `?limit=<count>` limits the list. Errors: `bad-request`.
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
