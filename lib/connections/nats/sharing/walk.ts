// Answers hubs that have missed something: with definitions, or with the newest values since a revision. Each answer is a page; who
// asks again with where it ended gets the next one, so the owner keeps nothing between two pages.

import type { Parameter } from '../../../model/parameter.ts';
import type { Parameters } from '../../hub-port.ts';
import { tellLinks, tellOrigin } from '../wire/causes.ts';
import { messageBytes, read, type WalkAnswer, type WalkRequest, walkRequest } from '../wire/messages.ts';
import type { SharedParameters } from './shared-parameters.ts';

/** How many fires are told at most. */
const maxFires = 20_000;

/** The text of the answer, a `WalkAnswer`; undefined: this was no request. */
export function answerWalk(
  data: Uint8Array,
  head: Pick<WalkAnswer, 'hub' | 'epoch' | 'term' | 'rev' | 'clock'>,
  shared: SharedParameters,
  hub: Parameters,
  fires: ReadonlyMap<Parameter, number>,
): string | undefined {
  let request: WalkRequest;
  try {
    request = read(walkRequest, data);
  } catch {
    return undefined;
  }
  const answer = { ...head, structure: shared.structure };
  if ('from' in request) return JSON.stringify({ ...answer, ...shared.page(request.from, messageBytes) });
  const text = JSON.stringify(answer);
  if (request.epoch !== head.epoch || request.structure !== shared.structure) return text;
  return `${text.slice(0, -1)},${changesSince(request.since, shared, hub, fires)}}`;
}

/** Tells the present value of a parameter with its context; nothing while it is unknown. */
export function tellState({ lastChange, value }: Parameter, number: number): readonly unknown[] {
  if (lastChange === undefined || value === undefined) return [];
  const { origin, time, cause } = lastChange;
  return [{ by: tellOrigin(origin), at: time, ...(cause !== undefined && { why: tellLinks(cause) }) }, number, value];
}

/** Tells `"changes"`, and either `"to"` or `"fires"` of an answer. */
function changesSince(
  since: number,
  shared: SharedParameters,
  hub: Parameters,
  fires: ReadonlyMap<Parameter, number>,
): string {
  const changes: string[] = [];
  let bytes = 0;
  for (const parameter of hub.changedSince(since)) {
    const number = shared.numberOf(parameter);
    if (number === undefined) continue;
    const change = JSON.stringify(tellState(parameter, number)).slice(1, -1);
    changes.push(change);
    bytes += Buffer.byteLength(change);
    if (bytes > messageBytes) return `"changes":[${changes}],"to":${parameter.lastChange!.revision}`;
  }
  const fired = [...fires].slice(0, maxFires).flatMap(([parameter, count]) => {
    const number = shared.numberOf(parameter);
    return number === undefined ? [] : [number, count];
  });
  return `"changes":[${changes}],"fires":[${fired}]`;
}
