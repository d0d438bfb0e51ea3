// Named sources, which are read all at once when the writes of a turn have settled, so that no rule ever sees half of a turn.

import type { ParameterNode } from '../../../graph/parameter-node.ts';
import type { Value } from '../../../model/value.ts';
import type { Hearer } from '../../plan.ts';

/** Values by name; undefined: unknown. */
export type Scope = Record<string, Value | undefined>;

/** Which of the triggers among some sources have fired since they were read, by their places; undefined: none of them is a trigger. */
export type Fired = boolean[] | undefined;

export function createFired(nodes: readonly ParameterNode[]): Fired {
  return nodes.some(({ type }) => type === 'T') ? nodes.map(() => false) : undefined;
}

/** Reads the value of each source, of a trigger whether it has fired since the last call, and whether all are known. */
export function readNamed(
  names: readonly string[],
  nodes: readonly ParameterNode[],
  fired: Fired,
  scope: Scope,
): boolean {
  let isComplete = true;
  for (let place = 0; place < nodes.length; place++) {
    const node = nodes[place]!;
    const value = fired === undefined || node.type !== 'T' ? node.value : fired[place];
    if (value === undefined) isComplete = false;
    scope[names[place]!] = value;
  }
  fired?.fill(false);
  return isComplete;
}

/** A trigger among named sources. */
export class FiringSource implements Hearer {
  readonly #fired: boolean[];
  readonly #place: number;
  readonly #hearer: Hearer;

  constructor(fired: boolean[], place: number, hearer: Hearer) {
    this.#fired = fired;
    this.#place = place;
    this.#hearer = hearer;
  }

  next(value: Value): void {
    this.#fired[this.#place] = true;
    this.#hearer.next(value);
  }
}
