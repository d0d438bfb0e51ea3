// Work that waits until the writes of a turn have settled, so that it sees consistent values.

import type { Change } from '../model/parameter.ts';

/** The place of work among all that waits: lower orders run first. A reload may change it. */
export interface SettlePlace {
  order: number;
}

/** Work that runs when no write is queued. It must not throw. */
export interface SettleTask {
  readonly place: SettlePlace;
  settle(): void;
}

/** Work that is due, and the changes that it runs on behalf of: of this turn, and of an earlier one. */
export interface DueTask {
  readonly task: SettleTask;
  readonly delivering: Change | undefined;
  readonly earlier: Change | undefined;
}

export class SettleQueue {
  readonly #due: DueTask[] = [];

  /** Adds work, unless it waits already. */
  add(task: SettleTask, delivering: Change | undefined, earlier: Change | undefined): void {
    if (this.#due.some((due) => due.task === task)) return;
    this.#due.push({ task, delivering, earlier });
  }

  /** Takes what comes first out; of equal orders, what was added first. */
  takeFirst(): DueTask | undefined {
    const due = this.#due;
    if (due.length === 0) return undefined;
    let first = 0;
    for (let index = 1; index < due.length; index++)
      if (due[index]!.task.place.order < due[first]!.task.place.order) first = index;
    return due.splice(first, 1)[0];
  }
}
