// How much of other hubs a hub keeps. What comes beyond is not shown, and the log names the hub that it is of.

import { Shares } from '../link/even-shares.ts';

/** The most that the setting `maxParameters` may be: so many parameters of one hub, and of all together. */
export const maxMirroredInAll = 1_000_000;
/** Characters of addresses and of texts that are kept of one hub: so many, or so many for each parameter that it may have. */
const mostCharacters = 32 * 1024 * 1024;
const charactersPerParameter = 64;
/** Characters of what led to changes, and of who made them. */
const mostCauses = 16 * 1024 * 1024;
/** All hubs together may have so many times as much as one. */
const hubsInAll = 4;

export class Bounds {
  readonly maxParameters: number;
  readonly parameters: Shares;
  readonly characters: Shares;
  readonly causes: Shares;

  /** So many parameters of each hub are shown. */
  constructor(maxParameters: number) {
    const characters = Math.max(mostCharacters, charactersPerParameter * maxParameters);
    this.maxParameters = maxParameters;
    this.parameters = new Shares(maxParameters, maxMirroredInAll);
    this.characters = new Shares(characters, hubsInAll * characters);
    this.causes = new Shares(mostCauses, hubsInAll * mostCauses);
  }
}

/** Amounts that one hub has taken, by the number of a parameter. */
export class Holdings {
  readonly #shares: Shares;
  readonly #hub: string;
  readonly #amounts = new Map<number, number>();

  constructor(shares: Shares, hub: string) {
    this.#shares = shares;
    this.#hub = hub;
  }

  /** Has a number hold so much from now on; returns whether it may: else it is as it was. */
  set(number: number, amount: number): boolean {
    if (amount === 0 && this.#amounts.size === 0) return true;
    const before = this.#amounts.get(number) ?? 0;
    if (amount === before) return true;
    if (amount > before && !this.#shares.take(this.#hub, amount - before)) return false;
    if (amount < before) this.#shares.give(this.#hub, before - amount);
    if (amount === 0) this.#amounts.delete(number);
    else this.#amounts.set(number, amount);
    return true;
  }

  clear(): void {
    for (const amount of this.#amounts.values()) this.#shares.give(this.#hub, amount);
    this.#amounts.clear();
  }
}
