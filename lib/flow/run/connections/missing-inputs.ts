// Connections that listen to a parameter of another hub wait while there is none: the other hub may withdraw it, and have it again.

import { Subscription } from 'rxjs';
import type { Graph } from '../../../graph/graph.ts';
import type { ConnectionPlan } from '../../plan.ts';

export class MissingInputs {
  readonly #graph: Graph;
  /** The IDs of connections that wait. */
  readonly #waiting = new Set<string>();
  /** The addresses of parameters that were withdrawn since somebody looked. */
  readonly #withdrawn = new Set<string>();
  readonly #following = new Subscription();

  /** `look` is called after parameters of other hubs have come or gone. */
  constructor(graph: Graph, look: () => void) {
    this.#graph = graph;
    const note = graph.removed$.subscribe({
      next: ({ address, remote }) => {
        if (remote !== undefined) this.#withdrawn.add(address);
      },
      error: () => {},
    });
    this.#following.add(note);
    this.#following.add(graph.mirrored$.subscribe({ next: look, error: () => {} }));
  }

  /** What a connection that is about to start has to wait for; undefined: all of its inputs are there, or it is switched off. */
  waitedForBy(plan: ConnectionPlan): string | undefined {
    const missing = plan.enabled ? this.#missing(plan) : undefined;
    if (missing === undefined) this.#waiting.delete(plan.id);
    else this.#waiting.add(plan.id);
    return missing;
  }

  /** Tells whether a connection listens to what was withdrawn, or has waited for what is there now; it forgets what was withdrawn. */
  takeTouched(): (plan: ConnectionPlan) => boolean {
    const withdrawn = new Set(this.#withdrawn);
    this.#withdrawn.clear();
    return (plan) =>
      this.#waiting.has(plan.id)
        ? this.#missing(plan) === undefined
        : Object.values(plan.inputs).some((address) => withdrawn.has(address));
  }

  stop(): void {
    this.#following.unsubscribe();
  }

  #missing({ inputs }: ConnectionPlan): string | undefined {
    return Object.values(inputs).find((address) => this.#graph.find(address) === undefined);
  }
}
