// The newest entries of a log, by number.

import { keptEntries, type LogEntry } from '../model/reports/log-entry.ts';

export class Entries {
  /** Oldest first. */
  readonly #all: LogEntry[];

  constructor(all: readonly LogEntry[] = []) {
    this.#all = all.slice(-keptEntries);
  }

  /** The number of the newest; 0: there is none. */
  get last(): number {
    return this.#all.at(-1)?.n ?? 0;
  }

  /** Adds an entry whose number is greater than all others. */
  add(entry: LogEntry): void {
    this.#all.push(entry);
    if (this.#all.length > keptEntries) this.#all.shift();
  }

  /** Those with a greater number, oldest first. */
  after(n: number): readonly LogEntry[] {
    let [low, high] = [0, this.#all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#all[middle]!.n > n) high = middle;
      else low = middle + 1;
    }
    return this.#all.slice(low);
  }
}
