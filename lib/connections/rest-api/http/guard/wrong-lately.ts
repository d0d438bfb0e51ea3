// Who has sent wrong credentials within the last minutes: networks, and names of users.

/** So long nobody is forgotten who was wrong. It is longer than a queue of passwords takes, however slowly somebody guesses. */
const latelyMs = 600_000;
/** How many are remembered. The one that was wrong longest ago is forgotten first. */
const maxRemembered = 10_000;
/** Who was wrong less often may have mistyped. */
const often = 5;

export class WrongLately {
  readonly #now: () => number;
  /** In the order in which they were wrong last. */
  readonly #counts = new Map<string, { count: number; atMs: number }>();

  /** `now` is in milliseconds of a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now;
  }

  add(key: string): void {
    const count = this.#countOf(key) + 1;
    this.#counts.delete(key);
    if (this.#counts.size >= maxRemembered) this.#counts.delete(this.#counts.keys().next().value!);
    this.#counts.set(key, { count, atMs: this.#now() });
  }

  /** 0: it was not wrong lately, 1: now and then, 2: often. */
  levelOf(key: string): 0 | 1 | 2 {
    const count = this.#countOf(key);
    return count === 0 ? 0 : count < often ? 1 : 2;
  }

  #countOf(key: string): number {
    const wrong = this.#counts.get(key);
    return wrong === undefined || this.#now() - wrong.atMs > latelyMs ? 0 : wrong.count;
  }
}
