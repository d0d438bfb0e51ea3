// A change as the graph makes it. A change keeps the chain of changes that led to it. Within a turn the chain is whole; a chain
// that goes on through time loses its oldest changes, so that a loop through timers does not keep all of its past.

import type { Change, Origin } from '../model/parameter.ts';
import type { Value } from '../model/value.ts';
import type { ParameterNode } from './parameter-node.ts';

/** At least so many of the changes that led to a change are kept, and always less than twice as many. */
export const keptCauses = 64;

/** A change from the moment it is written. It gets its previous value and its revision when it is delivered. */
export class PendingChange implements Change {
  readonly parameter: ParameterNode;
  readonly value: Value;
  previous: Value | undefined = undefined;
  readonly origin: Origin;
  readonly cause: Change | undefined;
  readonly depth: number;
  readonly hop: number;
  revision = 0;
  readonly time: number;

  constructor(
    parameter: ParameterNode,
    value: Value,
    origin: Origin,
    cause: Change | undefined,
    hop: number,
    time: number,
  ) {
    this.parameter = parameter;
    this.value = value;
    this.origin = origin;
    const depth = cause === undefined ? 0 : cause.depth + 1;
    this.cause = depth % keptCauses !== 0 || depth <= keptCauses ? cause : shorten(cause!);
    this.depth = depth;
    this.hop = hop;
    this.time = time;
  }
}

/** Copies the newest part of a chain. Other chains that lead through the original keep all of their changes. */
function shorten(newest: Change): Change {
  const links: Change[] = [];
  for (let link: Change | undefined = newest; link !== undefined && links.length < keptCauses; link = link.cause)
    links.push(link);
  return links.reduceRight<Change | undefined>((cause, link) => ({ ...link, cause }), undefined)!;
}
