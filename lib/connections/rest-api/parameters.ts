// GET /parameters/<address> (spec.md "Read a parameter"), and the list of all parameters for clients that explore.

import { HubError } from '../../model/error.ts';
import type { Parameter } from '../../model/parameter.ts';
import type { HttpRequest, HttpResponse } from '../../net/uws.ts';
import type { HubPort } from '../connection.ts';
import { keepResponse } from './exchange.ts';
import { createFilter } from './filter.ts';
import { acceptsJson, jsonType, replyError, replyValue } from './reply.ts';

export const parametersPath = '/parameters/';
const chunkLength = 64 * 1024;

/** Answers with the value; 404 without such a parameter, 503 while its state is unknown (D-03). */
export function readParameter(hub: HubPort, response: HttpResponse, request: HttpRequest): void {
  const asJson = acceptsJson(request.getHeader('accept'));
  let address: string;
  try {
    address = decodePath(request.getUrl().slice(parametersPath.length));
  } catch (error) {
    replyError(response, error as HubError, asJson);
    return;
  }
  const parameter = hub.find(address);
  if (parameter === undefined)
    replyError(
      response,
      new HubError('unknown-parameter', `${address}: there is no parameter of this address`),
      asJson,
    );
  else if (parameter.value === undefined)
    replyError(response, new HubError('state-unknown', `${address}: the state is unknown`), asJson);
  else replyValue(response, parameter.value, asJson);
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

/** Streams the list of parameters, a JSON array; `?filter=<regex>` narrows it. Errors: `bad-request` for the filter. */
export async function listParameters(hub: HubPort, response: HttpResponse, query: URLSearchParams): Promise<void> {
  const matches = createFilter(query.getAll('filter'));
  const exchange = keepResponse(response);
  exchange.reply(() => response.writeHeader('Content-Type', jsonType).writeHeader('Cache-Control', 'no-store'));
  let chunk = '[';
  let separator = '\n';
  for (const parameter of hub.parameters()) {
    if (!matches(parameter.address)) continue;
    chunk += separator + JSON.stringify(describeParameter(parameter));
    separator = ',\n';
    if (chunk.length < chunkLength) continue;
    let isTaken = true;
    exchange.reply(() => {
      isTaken = response.write(chunk);
    });
    chunk = '';
    if (!isTaken) await exchange.writable();
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
