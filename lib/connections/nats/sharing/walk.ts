// Answers hubs that have missed something: with definitions, or with the newest values since a revision. Each answer is a page; who
// asks again with where it ended gets the next one, so the owner keeps nothing between two pages.

import type { Parameter } from '../../../model/parameter.ts';
import type { HubPort } from '../../hub-port.ts';
import { tellLinks, tellOrigin } from '../wire/causes.ts';
import { read, type WalkAnswer, type WalkRequest, walkRequest } from '../wire/messages.ts';
import type { SharedParameters } from './shared-parameters.ts';

/** A page is ended when it has grown this long; one more value may be longer. */
const pageCharacters = 200_000;
/** How many fires are told at most. */
const maxFires = 20_000;

/** The answer; undefined: this was no request. */
export function answerWalk(
  data: Uint8Array,
  head: Pick<WalkAnswer, 'hub' | 'epoch' | 'term' | 'rev'>,
  shared: SharedParameters,
  hub: Pick<HubPort, 'changedSince'>,
  fires: ReadonlyMap<Parameter, number>,
): WalkAnswer | undefined {
  let request: WalkRequest;
  try {
    request = read(walkRequest, data);
  } catch {
    return undefined;
  }
  const answer = { ...head, structure: shared.structure };
  if ('from' in request) return { ...answer, ...shared.page(request.from, pageCharacters) };
  if (request.epoch !== head.epoch || request.structure !== shared.structure) return answer;
  return { ...answer, ...changesSince(request.since, shared, hub, fires) };
}

/** Tells the present value of a parameter with its context; nothing while it is unknown. */
export function tellState({ lastChange, value }: Parameter, number: number): readonly unknown[] {
  if (lastChange === undefined || value === undefined) return [];
  const { origin, time, cause } = lastChange;
  return [{ by: tellOrigin(origin), at: time, ...(cause !== undefined && { why: tellLinks(cause) }) }, number, value];
}

function changesSince(
  since: number,
  shared: SharedParameters,
  hub: Pick<HubPort, 'changedSince'>,
  fires: ReadonlyMap<Parameter, number>,
): Pick<WalkAnswer, 'changes' | 'to' | 'fires'> {
  const changes: unknown[] = [];
  let characters = 0;
  for (const parameter of hub.changedSince(since)) {
    const number = shared.numberOf(parameter);
    if (number === undefined) continue;
    const { value, lastChange } = parameter;
    changes.push(...tellState(parameter, number));
    characters += 60 + (typeof value === 'string' ? value.length : 0) + (lastChange?.cause === undefined ? 0 : 300);
    if (characters > pageCharacters) return { changes, to: lastChange!.revision };
  }
  const fired = [...fires].slice(0, maxFires).flatMap(([parameter, count]) => {
    const number = shared.numberOf(parameter);
    return number === undefined ? [] : [number, count];
  });
  return { changes, fires: fired };
}
