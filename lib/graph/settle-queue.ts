// Work that waits until the writes in a turn have settled, so that the work sees consistent values. Most tasks are added in the order in
// which they run, for which a list of any length suffices. All other tasks wait in a heap.

import { Heap } from '../model/heap.ts';
import type { Change } from '../model/parameter.ts';

/**
 * The position of a task among all waiting tasks: a task with a lower order runs first. A reload may change the position while no task is
 * waiting.
 */
export interface SettlePlace {
  order: number;
}

/** Work that runs in a turn as soon as no write is queued. Only the queue writes these fields. */
export interface SettleTask extends Readonly<SettlePlace> {
  isWaiting: boolean;
  /** The change in this turn on whose behalf the task runs. */
  delivering: Change | undefined;
  /** The change in an earlier turn on whose behalf the task runs. */
  earlier: Change | undefined;
  /** The number of tasks added before this task. Among tasks of equal order, the task that was added first runs first. */
  number: number;
  /** Does the task's work. Must not throw. */
  settle(): void;
}

/** A task that calls a function, at a position that may be shared with other tasks. */
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

/** The maximum length of a list that is reused for the next turn, because creating a list takes longer than using it. */
const keptLength = 1024;

export class SettleQueue {
  /** The tasks that were added in order. The tasks from `#next` to `#end` are waiting. */
  readonly #inOrder: (SettleTask | undefined)[] = [];
  #next = 0;
  #end = 0;
  #last: SettleTask | undefined = undefined;
  readonly #others = new Heap<SettleTask>(isBefore);
  #added = 0;
  #waiting = 0;

  /** Adds a task, unless the task is already waiting. */
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

  /**
   * Removes and returns the first task, or returns undefined if no task is waiting. Among tasks of equal order, the task that was added
   * first comes first. The task keeps its changes until the caller clears them.
   */
  takeFirst(): SettleTask | undefined {
    return this.#waiting === 0 ? undefined : this.#take(); // this path is short, because nearly every turn ends without tasks
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
