// Where one rule listens. Rules that hear the same parameter run in the order in which they began to listen; a reload
// that puts a rule between others lets the others listen anew, with no change missed and with all that they hold.

import { Subscription } from 'rxjs';
import type { Graph } from '../../../graph/graph.ts';
import type { ParameterNode } from '../../../graph/parameter-node.ts';
import type { Value } from '../../../model/value.ts';

interface Ear {
  readonly node: ParameterNode;
  readonly hear: (value: Value) => void;
  listening: Subscription;
}

export class Ears {
  readonly graph: Graph;
  /** The rule's place among those that wait until a turn has settled. */
  settleOrder: number;
  readonly #ears = new Set<Ear>();

  constructor(graph: Graph, settleOrder: number) {
    this.graph = graph;
    this.settleOrder = settleOrder;
  }

  /** Hears each change of a parameter, not the value that it has already. */
  listen(node: ParameterNode, hear: (value: Value) => void): Subscription {
    const ear = { node, hear, listening: listenTo(node, hear) };
    this.#ears.add(ear);
    return new Subscription(() => {
      ear.listening.unsubscribe();
      this.#ears.delete(ear);
    });
  }

  /** Listens anew, behind all that listen by now; between turns, when there is nothing to miss. */
  listenLast(): void {
    for (const ear of this.#ears) {
      ear.listening.unsubscribe();
      ear.listening = listenTo(ear.node, ear.hear);
    }
  }
}

function listenTo(node: ParameterNode, hear: (value: Value) => void): Subscription {
  let isLive = false;
  const listening = node.subscribe({
    next: (value) => {
      if (isLive && value !== undefined) hear(value);
    },
    error: () => {}, // parameters never fail
  });
  isLive = true;
  return listening;
}
