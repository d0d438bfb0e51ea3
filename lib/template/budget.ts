// How much the templates of one file may make.

import { groupDigits } from '../model/digits.ts';

/** Rules, tests, connections, widgets and instances. */
const maxItems = 100_000;
const maxCharacters = 64 * 1024 * 1024;

export class Budget {
  #items = maxItems;
  #characters = maxCharacters;
  #isTold = false;

  /** Takes items, or characters of texts. Returns what is wrong, once; undefined: all is well, or it was told before. */
  take(items: number, characters = 0): string | undefined {
    this.#items -= items;
    this.#characters -= characters;
    if (!this.isSpent || this.#isTold) return undefined;
    this.#isTold = true;
    return this.#items < 0
      ? `expected at most ${groupDigits(maxItems)} items that each and instances make in one file, got more`
      : `expected at most ${maxCharacters / 1024 / 1024} MB of texts that each and instances make in one file, got more`;
  }

  get itemsLeft(): number {
    return this.#items;
  }

  get isSpent(): boolean {
    return this.#items < 0 || this.#characters < 0;
  }
}
