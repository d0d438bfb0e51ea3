// Which definitions a client has been sent on this connection. One that has resumed is sent those of what changes, with the
// change, as lib/client/README.md "Resuming" says.

import { isTrigger } from '../frames.ts';
import type { GroupChannel } from '../outboxes/group-channel.ts';

export class KnownDefinitions {
  /** Parameters that have not changed after this revision lack their definitions, and triggers by the other; -1: none does. */
  readonly #valuesAfter: number;
  readonly #firesAfter: number;

  constructor(valuesAfter: number, firesAfter: number) {
    this.#valuesAfter = valuesAfter;
    this.#firesAfter = firesAfter;
  }

  /** What is known once the client resumes from `rev`; fires of before `now` are not told. */
  resume(rev: number, now: number): KnownDefinitions {
    return new KnownDefinitions(Math.max(this.#valuesAfter, rev), now);
  }

  /** Whether nothing was resumed: everything that matches was defined, or is by a snapshot on its way. */
  get areAll(): boolean {
    return this.#valuesAfter < 0;
  }

  /** Whether some of what had this lowest revision before may lack its definition. */
  mayLack(leastPrevious: number): boolean {
    return leastPrevious <= this.#firesAfter;
  }

  lack({ previousRevision, channel }: GroupChannel): boolean {
    return previousRevision <= (isTrigger(channel.parameter) ? this.#firesAfter : this.#valuesAfter);
  }
}

/** What a client knows that has not resumed. */
export const allKnown = new KnownDefinitions(-1, -1);
