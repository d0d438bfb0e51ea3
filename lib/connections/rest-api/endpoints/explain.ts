// GET /hub/explain/<address>: the cause of a value, from the last change of a parameter back to the event from outside.

import { nearestName } from '../../../json5/nearest-name.ts';
import { HubError } from '../../../model/error.ts';
import { absenceBefore, type Change, type Parameter, staleSinceOf } from '../../../model/parameter.ts';
import { something } from '../../../wire/http/hidden.ts';
import { type CausedChange, type Causes, type Explanation, explanation } from '../../../wire/http/parameter-shapes.ts';
import { toIsoTime } from '../../../wire/time.ts';
import type { HubPort } from '../../hub-port.ts';
import { decodePath } from '../input/request-path.ts';
import type { View } from '../users/view.ts';

import { badPath, page } from './endpoint.ts';

export const endpoints = [
  page({
    path: '/hub/explain/{address}',
    need: 'entry',
    id: 'explain',
    tag: 'causes',
    summary: 'Why a parameter has its current value: its last change and the chain of causes',
    names: { address: 'Parameter address' },
    answer: explanation,
    errors: { 400: badPath, 404: 'Parameter not found', 503: 'The parameter has not changed yet' },
    read: ({ hub }, { principal }, rest) => explainParameter(hub, principal.view, decodePath(rest)),
  }),
];

/**
 * The maximum number of parameters to compare with an unknown address in search of the nearest address, which then takes at most a few
 * milliseconds.
 */
const mostCompared = 10_000;

/**
 * Returns the cause of a parameter's value. Errors: `unknown-parameter`, which suggests the most similar address; `state-unknown`, also
 * before a trigger has fired.
 */
function explainParameter(hub: Pick<HubPort, 'wouldBe' | 'persistence'>, view: View, address: string): Explanation {
  const parameter = view.find(address);
  if (parameter === undefined) {
    const nearest = nearestAddress(address, view);
    const hint = nearest === undefined ? '' : `, did you mean "${nearest}"?`;
    throw new HubError('unknown-parameter', `${address}: no parameter has this address${hint}`);
  }
  const { lastChange } = parameter;
  const wouldBe = hub.wouldBe(address);
  if (lastChange === undefined && wouldBe === undefined)
    throw new HubError('state-unknown', `${address}: the state is unknown`);
  const would = wouldBe && causesOf(wouldBe.parameter, wouldBe, view);
  const isLeftOut = hub.persistence.archive?.values?.isLeftOut(parameter) === true;
  const staleSince = staleSinceOf(parameter);
  return {
    parameter: address,
    ...causesOf(parameter, lastChange, view),
    would,
    staleSince: staleSince === undefined ? undefined : toIsoTime(staleSince),
    isNotKept: isLeftOut || undefined,
  };
}

/**
 * Returns the readable address that is nearest to an unknown address, preferably within the same connection; undefined if no address is
 * similar, or if there are more than `mostCompared`.
 */
function nearestAddress(address: string, view: View): string | undefined {
  const known: string[] = [];
  for (const parameter of view.parameters()) if (known.push(parameter.address) > mostCompared) return undefined;
  const connection = address.slice(0, address.indexOf('/') + 1);
  const sisters = known.filter((one) => one.startsWith(connection));
  return nearestName(address, sisters) ?? nearestName(address, known);
}

/** Returns the chain of causes of a value, newest change first. The first link is a parameter that the principal may read. */
function causesOf({ value }: Parameter, lastChange: Change | undefined, view: View): Causes {
  const chain: CausedChange[] = [];
  let last = lastChange;
  for (let link = lastChange; link !== undefined; link = link.cause) {
    last = link;
    if (view.mayRead(link.parameter.address)) chain.push(describeChange(link, view));
    else if (chain.at(-1)!.parameter !== something) chain.push(hide(chain.at(-1)!));
  }
  return { value, chain, forgotten: last?.depth ?? 0 };
}

function describeChange(change: Change, view: View): CausedChange {
  const { parameter, value, previous, origin, cause, revision, time } = change;
  const away = absenceBefore(change);
  const isCauseSeen = cause !== undefined && view.mayRead(cause.parameter.address);
  return {
    parameter: parameter.address,
    type: parameter.type,
    value,
    previous,
    origin: view.show(origin),
    revision: revision === 0 ? undefined : revision,
    time: toIsoTime(time),
    afterMs: isCauseSeen ? Math.max(0, time - cause.time) : undefined,
    awaySince: away && toIsoTime(away.since),
  };
}

/** Returns a link that takes the place of a change that the principal may not see. `time` is the time of the following change. */
function hide({ time }: CausedChange): CausedChange {
  return { parameter: something, type: 'T', value: 1, origin: { kind: 'connection', name: something }, time };
}
