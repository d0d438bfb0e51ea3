// Work that waits until the writes of a turn have settled, so it sees consistent values. Most tasks are added in the order in which they
// run, and a list of any length is enough. The others wait in a heap.

import { Heap } from '../model/heap.ts';
import type { Change } from '../model/parameter.ts';

/** The position of a task among all waiting ones: lower orders run first. A reload may change it while nothing waits. */
export interface SettlePlace {
  order: number;
}

/** Work that runs when no write is queued. Only the queue writes its fields. */
export interface SettleTask extends Readonly<SettlePlace> {
  isWaiting: boolean;
  /** The changes on whose behalf it runs: one of this turn, and one of an earlier turn. */
  delivering: Change | undefined;
  earlier: Change | undefined;
  /** Counts the added tasks: among equal orders the first added runs first. */
  number: number;
  /** Runs the task. Must not throw. */
  settle(): void;
}

/** A task that calls a function, at a position that it may share with others. */
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

/** A list up to this length is reused for the next turn; creating one takes longer than using it. */
const keptLength = 1024;

export class SettleQueue {
  /** The tasks added in order; those from `#next` up to `#end` wait. */
  readonly #inOrder: (SettleTask | undefined)[] = [];
  #next = 0;
  #end = 0;
  #last: SettleTask | undefined = undefined;
  readonly #others = new Heap<SettleTask>(isBefore);
  #added = 0;
  #waiting = 0;

  /** Adds a task, unless it already waits. */
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

  /** Removes and returns the first task; among equal orders the first added. The task keeps its changes until the caller clears them. */
  takeFirst(): SettleTask | undefined {
    return this.#waiting === 0 ? undefined : this.#take(); // minimal, because nearly every turn ends with no tasks
  }

  #take(): SettleTask {
    this.#waiting--;
    const first = this.#next < this.#end ? this.#inOrder[this.#next] : undefined;
    const other = this.#others.first;
    const isOther = other !== undefined && (first === undefined || isBefore(other, first));
    const taken = (isOther ? this.#others.take() : first)!;
    if (!isOther) {
      this.#inOrder[this.#next++] = undefined;
      if (this.#next === this.#end) this.#reset();
    }
    taken.isWaiting = false;
    return taken;
  }

  #reset(): void {
    if (this.#inOrder.length > keptLength) this.#inOrder.length = 0;
    this.#next = this.#end = 0;
    this.#last = undefined;
  }
}

function isBefore(one: SettleTask, other: SettleTask): boolean {
  const difference = one.order - other.order;
  return difference < 0 || (difference === 0 && one.number < other.number);
}
