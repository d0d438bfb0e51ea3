// Work that waits until the writes of a turn have settled, so that it sees consistent values. Mostly it comes in the order in
// which it will run, and a list is enough, however long; what comes out of order waits in a heap.

import { Heap } from '../model/heap.ts';
import type { Change } from '../model/parameter.ts';

/** The place of work among all that waits: lower orders run first. A reload may change it, when nothing waits. */
export interface SettlePlace {
  order: number;
}

/** Work that runs when no write is queued. Of what it knows while it waits only the queue writes anything. */
export class SettleTask {
  readonly place: SettlePlace;
  isWaiting = false;
  /** The changes that it runs on behalf of: of this turn, and of an earlier one. */
  delivering: Change | undefined = undefined;
  earlier: Change | undefined = undefined;
  /** Counts what was added: of equal orders, what was added first comes first. */
  number = 0;

  /** It must not throw. */
  readonly settle: () => void;

  constructor(place: SettlePlace, settle: () => void) {
    this.place = place;
    this.settle = settle;
  }
}

export class SettleQueue {
  /** What was added in its order; it is waited for from `#next` on. */
  #inOrder: SettleTask[] = [];
  #next = 0;
  readonly #others = new Heap<SettleTask>(isBefore);
  #added = 0;
  #waiting = 0;

  /** Adds work, unless it waits already. */
  add(task: SettleTask, delivering: Change | undefined, earlier: Change | undefined): void {
    if (task.isWaiting) return;
    task.isWaiting = true;
    this.#waiting++;
    task.delivering = delivering;
    task.earlier = earlier;
    task.number = this.#added++;
    const last = this.#inOrder.at(-1);
    if (last === undefined || isBefore(last, task)) this.#inOrder.push(task);
    else this.#others.add(task);
  }

  /** Takes what comes first out; of equal orders, what was added first. It knows its changes until it is told to forget them. */
  takeFirst(): SettleTask | undefined {
    return this.#waiting === 0 ? undefined : this.#take(); // as little as can be: nearly every turn ends with nothing
  }

  #take(): SettleTask {
    this.#waiting--;
    const first = this.#inOrder[this.#next];
    const other = this.#others.first;
    const isOther = other !== undefined && (first === undefined || isBefore(other, first));
    const taken = (isOther ? this.#others.take() : first)!;
    if (taken === first && ++this.#next === this.#inOrder.length) {
      this.#inOrder = [];
      this.#next = 0;
    }
    taken.isWaiting = false;
    return taken;
  }
}

function isBefore(one: SettleTask, other: SettleTask): boolean {
  const difference = one.place.order - other.place.order;
  return difference < 0 || (difference === 0 && one.number < other.number);
}
