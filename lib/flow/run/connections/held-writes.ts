// Writes to a connection that has to wait before it can start: they are held, and come first in its inboxes.

import { concat, type Observable, Subscription } from 'rxjs';
import type { Log } from '../../../connections/connection.ts';
import type { Graph } from '../../../graph/graph.ts';
import { formatAddress, parseAddress } from '../../../model/address.ts';
import { groupDigits } from '../../../model/digits.ts';
import { type Account, held, textBytes } from '../../../model/held-bytes.ts';
import type { Origin } from '../../../model/parameter.ts';
import type { Value } from '../../../model/value.ts';

/** How many writes to one parameter are held; the newest stay. */
const maxHeldWrites = 1024;
/** How much the writes to a connection take together; beyond, the oldest to the same parameter go, or else the write is dropped. */
const maxHeldBytes = 16 * 1024 * 1024;
/** What a write takes beside its text. */
const writeBytes = 16;
const heldTooMany = `more than ${groupDigits(maxHeldWrites)} writes wait for the connection to start, the oldest was dropped`;
const heldTooMuch = `more than ${maxHeldBytes / 1024 / 1024} MB of writes wait for the connection to start, one was dropped`;
const heldInAll = 'the hub holds too much, so the writes that waited for the connection to start were dropped';

/** Writes to one parameter, oldest first. Those before `first` have been dropped. */
interface Queue {
  values: Value[];
  first: number;
}

export class HeldWrites {
  readonly #graph: Graph;
  readonly #owner: Origin;
  readonly #log: Log;
  readonly #account: Account;
  /** By Parameter ID. */
  readonly #queues = new Map<string, Queue>();

  constructor(graph: Graph, owner: Origin, log: Log) {
    this.#graph = graph;
    this.#owner = owner;
    this.#log = log;
    this.#account = held.open({ kind: 'writes', owner: `connection "${owner.name}"`, letGo: () => this.#letGo() });
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
    const queue = this.#queues.get(parameterId);
    if (queue === undefined) return inbox;
    const values = queue.values.slice(queue.first);
    this.#queues.delete(parameterId);
    this.#account.add(-values.reduce<number>((sum, value) => sum + bytesOf(value), 0));
    return concat(values, inbox);
  }

  /** Forgets all: the connection has ended. */
  forget(): void {
    this.#queues.clear();
    this.#account.set(0);
  }

  #add(parameterId: string, value: Value): void {
    const queue = this.#queues.get(parameterId) ?? { values: [], first: 0 };
    this.#queues.set(parameterId, queue);
    const bytes = bytesOf(value);
    if (queue.values.length - queue.first === maxHeldWrites) {
      this.#log.warn({ parameter: parameterId }, `${parameterId}: ${heldTooMany}`, 'held too many');
      this.#dropOldest(queue);
    }
    if (this.#account.bytes + bytes > maxHeldBytes) {
      this.#log.warn({ parameter: parameterId }, `${parameterId}: ${heldTooMuch}`, 'held too much');
      while (queue.first < queue.values.length && this.#account.bytes + bytes > maxHeldBytes) this.#dropOldest(queue);
      if (this.#account.bytes + bytes > maxHeldBytes) return;
    }
    queue.values.push(value);
    this.#account.add(bytes);
  }

  #dropOldest(queue: Queue): void {
    this.#account.add(-bytesOf(queue.values[queue.first]!));
    queue.values[queue.first++] = 0;
    if (queue.first < maxHeldWrites) return;
    queue.values = queue.values.slice(queue.first);
    queue.first = 0;
  }

  #letGo(): void {
    this.forget();
    this.#log.warn({}, heldInAll, 'held in all');
  }
}

function bytesOf(value: Value): number {
  return writeBytes + (typeof value === 'string' ? textBytes(value) : 0);
}
