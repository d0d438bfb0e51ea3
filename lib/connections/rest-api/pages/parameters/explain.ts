// GET /hub/explain/<address>: why a parameter is as it is, from its last change back to what happened outside.

import { HubError } from '../../../../model/error.ts';
import type { Change, Parameter } from '../../../../model/parameter.ts';
import type { CausedChange, Causes, Explanation } from '../../../../wire/http/explanation.ts';
import { toIsoTime } from '../../../../wire/time.ts';
import type { HubPort } from '../../../hub-port.ts';
import { decodePath } from '../../http/path.ts';

export const explainPath = '/hub/explain/';

/** Errors: `bad-address`, `unknown-parameter`; `state-unknown`, also before a trigger has fired. */
export function explainParameter(hub: HubPort, path: string): Explanation {
  const address = decodePath(path.slice(explainPath.length));
  const parameter = hub.find(address);
  if (parameter === undefined)
    throw new HubError('unknown-parameter', `${address}: there is no parameter of this address`);
  const { lastChange } = parameter;
  const wouldBe = hub.wouldBe(address);
  if (lastChange === undefined && wouldBe === undefined)
    throw new HubError('state-unknown', `${address}: the state is unknown`);
  const would = wouldBe && causesOf(wouldBe.parameter, wouldBe);
  return { parameter: address, ...causesOf(parameter, lastChange), would };
}

function causesOf({ value }: Parameter, lastChange: Change | undefined): Causes {
  const chain: Change[] = [];
  for (let link = lastChange; link !== undefined; link = link.cause) chain.push(link);
  return { value, chain: chain.map(describeChange), forgotten: chain.at(-1)?.depth ?? 0 };
}

function describeChange({ parameter, value, previous, origin, cause, revision, time }: Change): CausedChange {
  return {
    parameter: parameter.address,
    type: parameter.type,
    value,
    previous,
    origin,
    revision: revision === 0 ? undefined : revision,
    time: toIsoTime(time),
    afterMs: cause && Math.max(0, time - cause.time),
  };
}
