// Work that waits until the writes of a turn have settled, so that it sees consistent values. Mostly it comes in the order in
// which it will run, and a list is enough, however long; what comes out of order waits in a heap.

import { Heap } from '../model/heap.ts';
import type { Change } from '../model/parameter.ts';

/** The place of work among all that waits: lower orders run first. A reload may change it, when nothing waits. */
export interface SettlePlace {
  order: number;
}

/** Work that runs when no write is queued. Of what it knows while it waits only the queue writes anything. */
export interface SettleTask extends Readonly<SettlePlace> {
  isWaiting: boolean;
  /** The changes that it runs on behalf of: of this turn, and of an earlier one. */
  delivering: Change | undefined;
  earlier: Change | undefined;
  /** Counts what was added: of equal orders, what was added first comes first. */
  number: number;
  /** It must not throw. */
  settle(): void;
}

/** Work that is a call, at a place that it may share with others. */
export class SettleCall implements SettleTask {
  readonly #place: SettlePlace;
  isWaiting = false;
  delivering: Change | undefined = undefined;
  earlier: Change | undefined = undefined;
  number = 0;
  readonly settle: () => void;

  constructor(place: SettlePlace, settle: () => void) {
    this.#place = place;
    this.settle = settle;
  }

  get order(): number {
    return this.#place.order;
  }
}

/** How long a list is kept for the next turn; to make a new one takes longer than what it is for. */
const keptLength = 1024;

export class SettleQueue {
  /** What was added in its order; it is waited for from `#next` on, up to `#end`. */
  readonly #inOrder: (SettleTask | undefined)[] = [];
  #next = 0;
  #end = 0;
  #last: SettleTask | undefined = undefined;
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
    if (this.#last === undefined || isBefore(this.#last, task)) {
      this.#inOrder[this.#end++] = task;
      this.#last = task;
    } else this.#others.add(task);
  }

  /** Takes what comes first out; of equal orders, what was added first. It knows its changes until it is told to forget them. */
  takeFirst(): SettleTask | undefined {
    return this.#waiting === 0 ? undefined : this.#take(); // as little as can be: nearly every turn ends with nothing
  }

  #take(): SettleTask {
    this.#waiting--;
    const first = this.#next < this.#end ? this.#inOrder[this.#next] : undefined;
    const other = this.#others.first;
    const isOther = other !== undefined && (first === undefined || isBefore(other, first));
    const taken = (isOther ? this.#others.take() : first)!;
    if (!isOther) {
      this.#inOrder[this.#next++] = undefined;
      if (this.#next === this.#end) this.#startAnew();
    }
    taken.isWaiting = false;
    return taken;
  }

  #startAnew(): void {
    if (this.#inOrder.length > keptLength) this.#inOrder.length = 0;
    this.#next = this.#end = 0;
    this.#last = undefined;
  }
}

function isBefore(one: SettleTask, other: SettleTask): boolean {
  const difference = one.order - other.order;
  return difference < 0 || (difference === 0 && one.number < other.number);
}
