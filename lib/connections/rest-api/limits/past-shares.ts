// The cost of queries about the past while they are waiting and while their answers are being read, per user, or per address without a
// user.

import { limits } from './client-limits.ts';
import { LimitError } from './limit-hits.ts';

/** The maximum number of bytes in all answers together, as a multiple of the maximum for one owner. */
const together = 4;

interface Share {
  questions: number;
  bytes: number;
}

export class PastShares {
  /** The queries and answers in progress, by owner. There are at most as many owners as connections. */
  readonly #shares = new Map<string, Share>();
  #bytes = 0;

  /** Admits a query; returns a function to call when the query has ended. Errors: `unavailable`. */
  enter(owner: string): () => void {
    const share = this.#shares.get(owner) ?? { questions: 0, bytes: 0 };
    if (share.questions >= limits.pastQuestions.default)
      throw new LimitError(
        'pastQuestions',
        'unavailable',
        `expected at most ${limits.pastQuestions.default} queries at a time from ${owner}, got more`,
      );
    const most = limits.pastBytes.default;
    if (share.bytes >= most || this.#bytes >= most * together)
      throw new LimitError(
        'pastBytes',
        'unavailable',
        'too many bytes of earlier answers are unread: read those answers first',
      );
    share.questions++;
    this.#shares.set(owner, share);
    return () => {
      share.questions--;
      if (share.questions === 0) this.#shares.delete(owner);
    };
  }

  /** Counts the bytes of the answer to an admitted query; returns a function that stops counting them. */
  hold(owner: string, bytes: number): () => void {
    const share = this.#shares.get(owner)!;
    share.bytes += bytes;
    this.#bytes += bytes;
    return () => {
      share.bytes -= bytes;
      this.#bytes -= bytes;
    };
  }
}
