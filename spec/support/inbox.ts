// What comes one after another, kept until a spec takes it.

import { within } from './deadline.ts';

/** A queue that is read with a deadline: what came, in order. */
export class Inbox<T> {
  readonly #waiting: ((item: T) => void)[] = [];
  readonly #items: T[] = [];
  #listener: ((item: T) => void) | undefined = undefined;

  /** How many items have come and were not taken. */
  get length(): number {
    return this.#items.length;
  }

  put(item: T): void {
    if (this.#listener !== undefined) {
      this.#listener(item);
      return;
    }
    const take = this.#waiting.shift();
    if (take) take(item);
    else this.#items.push(item);
  }

  /** Hands over all items from here on, those that wait first. */
  listen(listener: (item: T) => void): void {
    this.#listener = listener;
    for (const item of this.#items.splice(0)) listener(item);
  }

  /** Takes the oldest item, waiting for it if need be. */
  next(what = 'the next item'): Promise<T> {
    const item = this.#items.shift();
    if (item !== undefined) return Promise.resolve(item);
    return within(new Promise<T>((resolve) => this.#waiting.push(resolve)), what);
  }

  /** Takes items up to the first that the test lets through; returns all that were taken. */
  async until(isLast: (item: T) => boolean, what = 'the last item'): Promise<T[]> {
    const taken: T[] = [];
    for (;;) {
      const item = await this.next(what);
      taken.push(item);
      if (isLast(item)) return taken;
    }
  }
}
