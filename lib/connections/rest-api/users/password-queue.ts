// Passwords that wait to be compared: one is at a time, which leaves the threads of the process to others. Who guesses does not hold up
// those who sign in: whoever was wrong lately comes after those who were not, and networks take turns, that which came last first. Of a
// network that was wrong lately the newest password comes first: whoever guesses sends the next one when one is answered, and the next to
// be compared is chosen before that has come.

import { LimitError } from '../limits/limit-hits.ts';
import { limits } from '../limits/limits.ts';

const maxWaiting = limits.passwords.default;
/** Who is more suspect was wrong lately, or somebody was for the same user. */
const mostTrusted = 1;

/** Who wants to have a password compared. */
export interface Asker {
  readonly network: string;
  /** How likely it guesses, as things are: who has less comes first. */
  suspicion(): number;
  /** Whether it has to wait even where a password is compared in no time. */
  isSlowed(): boolean;
  /** Whether nobody waits for the answer any more. */
  isGone(): boolean;
}

interface Waiting {
  readonly asker: Asker;
  /** Resolves to what tells the result. */
  compare(): Promise<() => void>;
  refuse(): void;
}

/** A network that has passwords in the queue. */
interface Network {
  waiting: number;
  /** The number of its last turn; 0: it has had none. */
  turn: number;
}

export class PasswordQueue {
  /** In the order in which they came. There are at most `maxWaiting`. */
  readonly #waiting = new Set<Waiting>();
  readonly #networks = new Map<string, Network>();
  /** How suspect those are that are being compared: one, and one more that is less so. */
  readonly #comparing: number[] = [];
  #turn = 0;

  /**
   * Compares a password when its turn comes. When too many wait, one of the most suspect has to go. Errors: `unavailable` when it is this one,
   * or is later; those of `compare`.
   */
  add(asker: Asker, compare: () => Promise<boolean>): Promise<boolean> {
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    const waiting: Waiting = {
      asker,
      compare: () =>
        compare().then(
          (isRight) => () => resolve(isRight),
          (error) => () => reject(error),
        ),
      refuse: () => reject(tooMany()),
    };
    this.#waiting.add(waiting);
    const network = this.#networks.get(asker.network) ?? { waiting: 0, turn: 0 };
    network.waiting++;
    this.#networks.set(asker.network, network);
    if (this.#waiting.size > maxWaiting) this.#forgetGone();
    if (this.#waiting.size > maxWaiting) this.#take(this.#last()).refuse();
    this.#advance();
    return promise;
  }

  /** Compares the next one, unless two are being compared, or one that is as little suspect. */
  #advance(): void {
    if (this.#comparing.length > 1) return;
    this.#forgetGone();
    if (this.#waiting.size === 0) return;
    const next = this.#next();
    const suspicion = next.asker.suspicion();
    if (this.#comparing.length > 0 && suspicion >= this.#comparing[0]!) return;
    this.#networks.get(next.asker.network)!.turn = ++this.#turn;
    this.#take(next);
    this.#comparing.push(suspicion);
    void next.compare().then((tell) => {
      this.#comparing.splice(this.#comparing.indexOf(suspicion), 1);
      this.#advance();
      tell();
    });
  }

  /** Whoever has gone has nothing compared: else somebody who guesses need not wait for answers. */
  #forgetGone(): void {
    for (const waiting of this.#waiting) if (waiting.asker.isGone()) this.#take(waiting).refuse();
  }

  #take(waiting: Waiting): Waiting {
    this.#waiting.delete(waiting);
    const network = this.#networks.get(waiting.asker.network)!;
    network.waiting--;
    if (network.waiting === 0) this.#networks.delete(waiting.asker.network);
    return waiting;
  }

  /** One of the least suspect; of these one of the networks that had their turn longest ago; of these one of the network that came last. */
  #next(): Waiting {
    const least = leastOf([...this.#waiting], ({ asker }) => asker.suspicion());
    const longestAgo = leastOf(least, ({ asker }) => this.#networks.get(asker.network)!.turn);
    const { network } = longestAgo.at(-1)!.asker;
    const ofNetwork = longestAgo.filter(({ asker }) => asker.network === network);
    return ofNetwork.at(ofNetwork[0]!.asker.suspicion() > mostTrusted ? -1 : 0)!;
  }

  /** The oldest one of the most suspect of the network that has most. */
  #last(): Waiting {
    const most = leastOf([...this.#waiting], ({ asker }) => -asker.suspicion());
    return leastOf(most, ({ asker }) => -this.#networks.get(asker.network)!.waiting)[0]!;
  }
}

/** Those of which a function says least. */
function leastOf(all: readonly Waiting[], rankOf: (one: Waiting) => number): Waiting[] {
  const ranks = all.map(rankOf);
  const least = Math.min(...ranks);
  return all.filter((_, index) => ranks[index] === least);
}

function tooMany(): LimitError {
  return new LimitError(
    'passwords',
    'unavailable',
    `expected at most ${maxWaiting} passwords at once, all are being compared`,
  );
}
