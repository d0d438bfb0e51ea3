// A bound for each of several users, and one for all of them together: where all have taken that much, each may still have an even share,
// so that nobody is shut out by what others have taken before.

export class Shares {
  readonly #most: number;
  readonly #mostInAll: number;
  readonly #taken = new Map<string, number>();
  #all = 0;

  constructor(most: number, mostInAll: number) {
    this.#most = most;
    this.#mostInAll = mostInAll;
  }

  /** How much a user has taken. */
  of(user: string): number {
    return this.#taken.get(user) ?? 0;
  }

  /** Takes so much for a user, all of it or nothing; returns whether it did. */
  take(user: string, amount: number): boolean {
    const taken = this.of(user) + amount;
    const isEven = taken <= this.#mostInAll / (this.#taken.size + 1);
    if (taken > this.#most || (this.#all + amount > this.#mostInAll && !isEven)) return false;
    this.#taken.set(user, taken);
    this.#all += amount;
    return true;
  }

  /** Gives back what a user has taken. */
  give(user: string, amount: number): void {
    const left = this.of(user) - amount;
    if (left > 0) this.#taken.set(user, left);
    else this.#taken.delete(user);
    this.#all -= amount;
  }
}
