// Work that waits until the writes of a turn have settled, so that it sees consistent values. Mostly it comes in the order in
// which it will run, and a list is enough, however long; what comes out of order waits in a heap.

import { Heap } from '../model/heap.ts';
import type { Change } from '../model/parameter.ts';

/** The place of work among all that waits: lower orders run first. A reload may change it, when nothing waits. */
export interface SettlePlace {
  order: number;
}

/** Work that runs when no write is queued. It must not throw. */
export interface SettleTask {
  readonly place: SettlePlace;
  settle(): void;
  /** Whether it is in the queue, which alone sets this. */
  isWaiting?: boolean;
}

/** Work that is due, and the changes that it runs on behalf of: of this turn, and of an earlier one. */
export interface DueTask {
  readonly task: SettleTask;
  readonly delivering: Change | undefined;
  readonly earlier: Change | undefined;
}

interface Waiting extends DueTask {
  /** Counts what was added: of equal orders, what was added first comes first. */
  readonly number: number;
}

export class SettleQueue {
  /** What was added in its order; it is waited for from `#next` on. */
  #inOrder: Waiting[] = [];
  #next = 0;
  readonly #others = new Heap<Waiting>(isBefore);
  #added = 0;
  #waiting = 0;

  /** Adds work, unless it waits already. */
  add(task: SettleTask, delivering: Change | undefined, earlier: Change | undefined): void {
    if (task.isWaiting) return;
    task.isWaiting = true;
    this.#waiting++;
    const waiting: Waiting = { task, delivering, earlier, number: this.#added++ };
    const last = this.#inOrder.at(-1);
    if (last === undefined || isBefore(last, waiting)) this.#inOrder.push(waiting);
    else this.#others.add(waiting);
  }

  /** Takes what comes first out; of equal orders, what was added first. */
  takeFirst(): DueTask | undefined {
    return this.#waiting === 0 ? undefined : this.#take(); // as little as can be: nearly every turn ends with nothing
  }

  #take(): DueTask {
    this.#waiting--;
    const first = this.#inOrder[this.#next];
    const other = this.#others.first;
    const isOther = other !== undefined && (first === undefined || isBefore(other, first));
    const taken = (isOther ? this.#others.take() : first)!;
    if (taken === first && ++this.#next === this.#inOrder.length) {
      this.#inOrder = [];
      this.#next = 0;
    }
    taken.task.isWaiting = false;
    return taken;
  }
}

function isBefore(one: Waiting, other: Waiting): boolean {
  const difference = one.task.place.order - other.task.place.order;
  return difference < 0 || (difference === 0 && one.number < other.number);
}
