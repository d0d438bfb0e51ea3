// What questions about the past cost the hub while they wait and while their answers are read, for each user, or address without
// one.

import { limits } from './client-limits.ts';
import { LimitError } from './limit-hits.ts';

/** All together may have so many times what one may. */
const together = 4;

interface Share {
  questions: number;
  bytes: number;
}

export class PastShares {
  /** There are at most as many as there are connections. */
  readonly #shares = new Map<string, Share>();
  #bytes = 0;

  /** Takes a question; returns what ends it. Errors: `unavailable`. */
  enter(whose: string): () => void {
    const share = this.#shares.get(whose) ?? { questions: 0, bytes: 0 };
    if (share.questions >= limits.pastQuestions.default)
      throw new LimitError(
        'pastQuestions',
        'unavailable',
        `expected at most ${limits.pastQuestions.default} questions at once of ${whose}, got more`,
      );
    const most = limits.pastBytes.default;
    if (share.bytes >= most || this.#bytes >= most * together)
      throw new LimitError('pastBytes', 'unavailable', 'expected earlier answers to be read first');
    share.questions++;
    this.#shares.set(whose, share);
    return () => {
      share.questions--;
      if (share.questions === 0) this.#shares.delete(whose);
    };
  }

  /** Counts an answer to a question that has entered; returns what ends it. */
  hold(whose: string, bytes: number): () => void {
    const share = this.#shares.get(whose)!;
    share.bytes += bytes;
    this.#bytes += bytes;
    return () => {
      share.bytes -= bytes;
      this.#bytes -= bytes;
    };
  }
}
