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

/** What one hub holds of the bounds, by the numbers of its parameters. */
export class Holding {
  readonly #bounds: Bounds;
  readonly #hub: string;
  readonly #texts: Amounts;
  readonly #causes: Amounts;
  #parameters = 0;
  #addresses = 0;

  constructor(bounds: Bounds, hub: string) {
    this.#bounds = bounds;
    this.#hub = hub;
    this.#texts = new Amounts(bounds.characters, hub);
    this.#causes = new Amounts(bounds.causes, hub);
  }

  /** Takes room for a parameter, its address and the text that it has; returns of what there is too much, and takes nothing then. */
  add(number: number, address: string, textLength: number): string | undefined {
    const { parameters, characters, maxParameters } = this.#bounds;
    if (!parameters.take(this.#hub, 1)) return `more than ${maxParameters} parameters, or than all hubs may have`;
    if (characters.take(this.#hub, address.length)) {
      this.#parameters++;
      this.#addresses += address.length;
      if (this.setText(number, textLength)) return undefined;
      this.delete(number, address);
    } else parameters.give(this.#hub, 1);
    return moreTexts;
  }

  delete(number: number, address: string): void {
    const { parameters, characters } = this.#bounds;
    this.setText(number, 0);
    this.setCauses(number, 0);
    this.#addresses -= address.length;
    characters.give(this.#hub, address.length);
    this.#parameters--;
    parameters.give(this.#hub, 1);
  }

  /** Has the value of a parameter, a text, be so long; returns whether it may: else it is as it was. */
  setText(number: number, length: number): boolean {
    return this.#texts.set(number, length);
  }

  /** The same of what led to the last change of a parameter. */
  setCauses(number: number, length: number): boolean {
    return this.#causes.set(number, length);
  }

  clear(): void {
    const { parameters, characters } = this.#bounds;
    parameters.give(this.#hub, this.#parameters);
    characters.give(this.#hub, this.#addresses);
    this.#parameters = 0;
    this.#addresses = 0;
    this.#texts.clear();
    this.#causes.clear();
  }
}

export const moreTexts = 'more texts than are kept';

/** Amounts that one hub has taken, by the number of a parameter. */
class Amounts {
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
