// A bound for each of several users, and one for all of them together. Once the common bound is reached, each user may still have an even
// share, so earlier users shut nobody out.

export class Shares {
  readonly #most: number;
  readonly #mostInAll: number;
  readonly #taken = new Map<string, number>();
  #all = 0;

  constructor(most: number, mostInAll: number) {
    this.#most = most;
    this.#mostInAll = mostInAll;
  }

  /** Returns how much a user has taken. */
  of(user: string): number {
    return this.#taken.get(user) ?? 0;
  }

  /** Takes an amount for a user, all of it or nothing; returns whether it succeeded. */
  take(user: string, amount: number): boolean {
    const taken = this.of(user) + amount;
    const isEven = taken <= this.#mostInAll / (this.#taken.size + 1);
    if (taken > this.#most || (this.#all + amount > this.#mostInAll && !isEven)) return false;
    this.#taken.set(user, taken);
    this.#all += amount;
    return true;
  }

  /** Returns an amount that a user has taken. */
  give(user: string, amount: number): void {
    const left = this.of(user) - amount;
    if (left > 0) this.#taken.set(user, left);
    else this.#taken.delete(user);
    this.#all -= amount;
  }
}
