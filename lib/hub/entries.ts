// The newest entries of a log, by number.

import type { LogEntry } from '../model/reports/log-entry.ts';

/** How many entries are kept. */
export const keptEntries = 2000;

export class Entries {
  /** Oldest first. Twice as many as are kept at most, so that seldom some have to be moved. */
  #all: LogEntry[];

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
    if (this.#all.length >= 2 * keptEntries) this.#all = this.#all.slice(-keptEntries);
  }

  /** Those with a greater number, oldest first. */
  after(n: number): readonly LogEntry[] {
    const kept = Math.max(0, this.#all.length - keptEntries);
    let [low, high] = [kept, this.#all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#all[middle]!.n > n) high = middle;
      else low = middle + 1;
    }
    return this.#all.slice(low);
  }
}
