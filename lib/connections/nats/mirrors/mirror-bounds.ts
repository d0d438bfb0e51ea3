// The bounds on the data that a hub stores from other hubs. Data beyond these bounds is not shown, and the log names the hub from which it
// came.

import { Shares } from '../link/nats-intake.ts';

/** The maximum value of the setting `maxParameters`. Also the maximum number of mirrored parameters from all hubs together. */
export const maxMirroredInAll = 1_000_000;
/**
 * The maximum number of characters in the addresses and string values that are stored for one hub: in total, and for each possible
 * parameter.
 */
const mostCharacters = 32 * 1024 * 1024;
const charactersPerParameter = 64;
/** The maximum number of characters in the causes and writer names that are stored for one hub. */
const mostCauses = 16 * 1024 * 1024;
/** The bounds for all hubs together, as a multiple of the bounds for one hub. */
const hubsInAll = 4;

export class Bounds {
  readonly maxParameters: number;
  readonly parameters: Shares;
  readonly characters: Shares;
  readonly causes: Shares;

  /** `maxParameters` is the number of parameters of each hub that may be shown. */
  constructor(maxParameters: number) {
    const characters = Math.max(mostCharacters, charactersPerParameter * maxParameters);
    this.maxParameters = maxParameters;
    this.parameters = new Shares(maxParameters, maxMirroredInAll);
    this.characters = new Shares(characters, hubsInAll * characters);
    this.causes = new Shares(mostCauses, hubsInAll * mostCauses);
  }
}

/** The space that the data of one hub takes up. Parameters are identified by their numbers. */
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

  /**
   * Reserves space for a parameter, its address and its string value. If this would exceed a bound, reserves nothing and returns a
   * description of the bound.
   */
  add(number: number, address: string, textLength: number): string | undefined {
    const { parameters, characters, maxParameters } = this.#bounds;
    if (!parameters.take(this.#hub, 1))
      return `more than ${maxParameters} parameters, or more than all hubs together may have`;
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

  /**
   * Changes the space that is reserved for a parameter's string value. Returns whether there was enough space; otherwise nothing changes.
   */
  setText(number: number, length: number): boolean {
    return this.#texts.set(number, length);
  }

  /**
   * Changes the space that is reserved for the causes of a parameter's last change. Returns whether there was enough space; otherwise
   * nothing changes.
   */
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

export const moreTexts = 'more text than this hub stores';

/** The amounts that one hub has taken, keyed by parameter number. */
class Amounts {
  readonly #shares: Shares;
  readonly #hub: string;
  readonly #amounts = new Map<number, number>();

  constructor(shares: Shares, hub: string) {
    this.#shares = shares;
    this.#hub = hub;
  }

  /** Sets the amount for a parameter number. Returns whether there was enough space; otherwise nothing changes. */
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
