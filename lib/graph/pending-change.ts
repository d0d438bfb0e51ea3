// A change as the graph makes it. Each knows what led to it, and so keeps that alive: chains are kept whole within a turn,
// and cut at their far end when they go on through time, so that a loop through timers does not keep its whole past.

import type { Change, Origin } from '../model/parameter.ts';
import type { Value } from '../model/value.ts';
import type { ParameterNode } from './parameter-node.ts';

/** How many of the changes that led to a change are kept at least; never twice as many or more. */
export const keptCauses = 64;

/** A change from the moment it is written; previous value and revision come with its delivery. */
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

/** Copies the newest part of a chain; others that lead through the old one keep all of theirs. */
function shorten(newest: Change): Change {
  const links: Change[] = [];
  for (let link: Change | undefined = newest; link !== undefined && links.length < keptCauses; link = link.cause)
    links.push(link);
  return links.reduceRight<Change | undefined>((cause, link) => ({ ...link, cause }), undefined)!;
}
