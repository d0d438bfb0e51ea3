// Writes to a connection that has to wait before it can start: they are held, and come first in its inboxes.

import { concat, type Observable, Subscription } from 'rxjs';
import type { Log } from '../../../connections/connection.ts';
import type { Graph } from '../../../graph/graph.ts';
import { formatAddress, parseAddress } from '../../../model/address.ts';
import { groupDigits } from '../../../model/digits.ts';
import type { Origin } from '../../../model/parameter.ts';
import type { Value } from '../../../model/value.ts';

/** How many writes to one parameter are held; the newest stay. */
const maxHeldWrites = 1024;
const heldTooMany = `more than ${groupDigits(maxHeldWrites)} writes wait for the connection to start, the oldest was dropped`;

export class HeldWrites {
  readonly #graph: Graph;
  readonly #owner: Origin;
  readonly #log: Log;
  /** By Parameter ID, oldest first. */
  readonly #values = new Map<string, Value[]>();

  constructor(graph: Graph, owner: Origin, log: Log) {
    this.#graph = graph;
    this.#owner = owner;
    this.#log = log;
  }

  /** Holds what others write to the parameters of the connection, until it is unsubscribed. */
  hold(): Subscription {
    const holding = new Subscription();
    for (const node of this.#graph.parameters()) {
      if (node.owner !== this.#owner || node.access === 'read-only') continue;
      const { parameterId } = parseAddress(node.address);
      holding.add(
        this.#graph.inbox(node.address).subscribe({
          next: (value) => this.#add(parameterId, value),
          error: () => {}, // inboxes never fail
        }),
      );
    }
    return holding;
  }

  /** What others write to a parameter, beginning with what was held of it. */
  inbox(parameterId: string): Observable<Value> {
    const inbox = this.#graph.inbox(formatAddress(this.#owner.name, parameterId));
    const values = this.#values.get(parameterId);
    this.#values.delete(parameterId);
    return values === undefined ? inbox : concat(values, inbox);
  }

  #add(parameterId: string, value: Value): void {
    const values = this.#values.get(parameterId) ?? [];
    if (values.length === maxHeldWrites) this.#log.warn({ parameter: parameterId }, `${parameterId}: ${heldTooMany}`);
    this.#values.set(parameterId, [...values.slice(1 - maxHeldWrites), value]);
  }
}
