// GET /parameters/<address> (spec.md "Read a parameter"), and the list of all parameters for clients that explore.

import { setImmediate } from 'node:timers/promises';
import { HubError } from '../../model/error.ts';
import type { Parameter } from '../../model/parameter.ts';
import { encodeText, type HttpRequest, type HttpResponse } from '../../net/uws.ts';
import type { HubPort, Log } from '../connection.ts';
import { asHubError, type Exchange, keepResponse } from './exchange.ts';
import { createFilter, type Filter } from './filter.ts';
import { beginValue } from './headers.ts';
import { acceptsJson, replyValue } from './reply.ts';

export const parametersPath = '/parameters/';
const acceptHeader = encodeText('accept');
const chunkLength = 64 * 1024;

/** Answers with the value. Errors: `bad-address`, `unknown-parameter`, and `state-unknown` (D-03). */
export function readParameter(hub: HubPort, response: HttpResponse, request: HttpRequest): void {
  const address = decodePath(request.getUrl().slice(parametersPath.length));
  const parameter = hub.find(address);
  if (parameter === undefined)
    throw new HubError('unknown-parameter', `${address}: there is no parameter of this address`);
  if (parameter.value === undefined) throw new HubError('state-unknown', `${address}: the state is unknown`);
  replyValue(response, parameter.value, acceptsJson(request.getHeader(acceptHeader)));
}

/** Decodes a percent-encoded path. Errors: `bad-address`. */
export function decodePath(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    throw new HubError('bad-address', `expected a percent-encoded UTF-8 path, got "${path}"`);
  }
}

/**
 * Streams the list of parameters, a JSON array; `?address=<address>` asks for some by name, of which there may be none, and
 * `?filter=<regex>` narrows it. Errors: `bad-request` for the filter.
 */
export function listParameters(hub: HubPort, response: HttpResponse, request: HttpRequest, log: Log): void {
  const query = new URLSearchParams(request.getQuery() ?? '');
  const matches = createFilter(query.getAll('filter'));
  const named = query.has('address')
    ? query.getAll('address').flatMap((address) => hub.find(address) ?? [])
    : undefined;
  const exchange = keepResponse(response);
  writeList(named ?? hub.parameters(), exchange, matches).catch((error) => exchange.fail(asHubError(error, log), true));
}

async function writeList(parameters: Iterable<Parameter>, exchange: Exchange, matches: Filter): Promise<void> {
  const { response } = exchange;
  exchange.reply(() => beginValue(response, true));
  let chunk = '[';
  let separator = '\n';
  for (const parameter of parameters) {
    if (!matches(parameter.address)) continue;
    chunk += separator + JSON.stringify(describeParameter(parameter));
    separator = ',\n';
    if (chunk.length < chunkLength) continue;
    let isTaken = true;
    exchange.reply(() => {
      isTaken = response.write(chunk);
    });
    chunk = '';
    await (isTaken ? setImmediate() : exchange.writable()); // a long list must not keep others waiting
    if (exchange.isAborted) return;
  }
  exchange.reply(() => response.end(`${chunk}\n]\n`));
}

/** One parameter with its state and metadata, as the list shows it. */
function describeParameter({ address, type, access, value, lastChange }: Parameter): object {
  return {
    parameter: address,
    type,
    access,
    state: value === undefined ? 'unknown' : 'known',
    value,
    revision: lastChange?.revision,
    time: lastChange && new Date(lastChange.time).toISOString(),
    origin: lastChange?.origin,
  };
}
