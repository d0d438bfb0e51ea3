// GET /hub/explain/<address>: why a parameter is as it is, from its last change back to what happened outside.

import { HubError } from '../../../../model/error.ts';
import type { Change, Parameter } from '../../../../model/parameter.ts';
import type { HubPort } from '../../../hub-port.ts';
import { decodePath } from '../../http/path.ts';

export const explainPath = '/hub/explain/';

/**
 * `{"parameter":…,"value":…,"chain":[…],"forgotten":0}`, newest change first; 404 without such a parameter, 503
 * while its state is unknown, or before a trigger has fired. The change that began it all is the last of the chain, unless
 * some are forgotten.
 */
export function explainParameter(hub: HubPort, path: string): object {
  const address = decodePath(path.slice(explainPath.length));
  const parameter = hub.find(address);
  if (parameter === undefined)
    throw new HubError('unknown-parameter', `${address}: there is no parameter of this address`);
  if (parameter.lastChange === undefined) throw new HubError('state-unknown', `${address}: the state is unknown`);
  return explain(parameter, parameter.lastChange);
}

function explain({ address, value }: Parameter, lastChange: Change): object {
  const chain: Change[] = [];
  for (let link: Change | undefined = lastChange; link !== undefined; link = link.cause) chain.push(link);
  return { parameter: address, value, chain: chain.map(describeChange), forgotten: chain.at(-1)!.depth };
}

/** One change. `afterMs` is the time since its cause; `revision` is left out where an equal value was written again. */
function describeChange({ parameter, value, previous, origin, cause, revision, time }: Change): object {
  return {
    parameter: parameter.address,
    type: parameter.type,
    value,
    previous,
    origin,
    revision: revision === 0 ? undefined : revision,
    time: new Date(time).toISOString(),
    afterMs: cause && Math.max(0, time - cause.time),
  };
}
