// GET /parameters/<address> (S-07): the value of a parameter.

import { HubError } from '../../../../model/error.ts';
import { encodeText, type HttpRequest, type HttpResponse } from '../../../../net/uws.ts';
import type { HubPort } from '../../../hub-port.ts';
import { acceptsJson } from '../../http/answer/accept.ts';
import { replyValue } from '../../http/answer/reply.ts';
import { decodePath } from '../../http/path.ts';

export const parametersPath = '/parameters/';
const acceptHeader = encodeText('accept');

/** Answers with the value. Errors: `bad-address`, `unknown-parameter`, and `state-unknown` (D-03). */
export function readParameter(hub: HubPort, response: HttpResponse, request: HttpRequest): void {
  const address = decodePath(request.getUrl().slice(parametersPath.length));
  const parameter = hub.find(address);
  if (parameter === undefined)
    throw new HubError('unknown-parameter', `${address}: there is no parameter of this address`);
  if (parameter.value === undefined) throw new HubError('state-unknown', `${address}: the state is unknown`);
  replyValue(response, parameter.value, acceptsJson(request.getHeader(acceptHeader)));
}
