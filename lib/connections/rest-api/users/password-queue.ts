// Passwords that wait to be compared: one is at a time, which leaves the threads of the process to others. Networks take turns, so whoever
// sends many does not hold up those who sign in elsewhere.

import { LimitError } from '../limits/limit-error.ts';
import { limits } from '../limits/limits.ts';

const maxWaiting = limits.passwords.default;

interface Waiting {
  compare(): Promise<void>;
  refuse(): void;
}

export class PasswordQueue {
  /** By network; the one whose turn it was comes last. There are at most `maxWaiting` in all, with the one that is compared. */
  readonly #waiting = new Map<string, Waiting[]>();
  #count = 0;
  #isComparing = false;

  /**
   * Compares a password when its turn comes. When too many wait, the last one of the network that has most has to go. Errors: `unavailable`
   * when it is this one, or is later; those of `compare`.
   */
  add(network: string, compare: () => Promise<boolean>): Promise<boolean> {
    if (this.#count >= maxWaiting && !this.#makeRoom(network)) return Promise.reject(tooMany());
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const waiting = { compare: () => compare().then(resolve, reject), refuse: () => reject(tooMany()) };
    const others = this.#waiting.get(network);
    if (others === undefined) this.#waiting.set(network, [waiting]);
    else others.push(waiting);
    this.#count++;
    if (!this.#isComparing) void this.#compareAll();
    return promise;
  }

  /** Refuses one of the network that has most, if that is more than this network would have; returns whether it did. */
  #makeRoom(network: string): boolean {
    const [first, ...rest] = this.#waiting.values();
    if (first === undefined) return false;
    const most = rest.reduce((one, other) => (other.length > one.length ? other : one), first);
    if (most.length <= (this.#waiting.get(network)?.length ?? 0) + 1) return false;
    most.pop()!.refuse();
    this.#count--;
    return true;
  }

  async #compareAll(): Promise<void> {
    this.#isComparing = true;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      await next.compare();
      this.#count--;
    }
    this.#isComparing = false;
  }

  #next(): Waiting | undefined {
    const [turn] = this.#waiting;
    if (turn === undefined) return undefined;
    const [network, waiting] = turn;
    const next = waiting.shift();
    this.#waiting.delete(network);
    if (waiting.length > 0) this.#waiting.set(network, waiting);
    return next;
  }
}

function tooMany(): LimitError {
  return new LimitError(
    'passwords',
    'unavailable',
    `expected at most ${maxWaiting} passwords at once, all are being compared`,
  );
}
