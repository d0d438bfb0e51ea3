// What this hub owns in its domain at the moment: the hinge between the leases, which decide it, and what is shared and mirrored.

import type { Observable } from 'rxjs';

export interface Ownership {
  /**
   * The term under which this hub runs its connections and rules; every message carries it. Terms only grow, but a hub that
   * starts, and that nobody tells who has its lease, is in term 0.
   */
  readonly term: number;
  /** false: another hub of the same name runs them, this one mirrors it. */
  readonly isHolder: boolean;
  /**
   * Whether this hub tells what it has, and takes writes of others: it runs its connections, and knows which of them are its own.
   * Until then others keep what they have of its name.
   */
  readonly reports: boolean;
  /**
   * Whether other hubs may ask for what this one has: one that tells, and also one that did last and has stopped, as its values stand
   * still until it hears of another one that has begun.
   */
  readonly answers: boolean;
  /**
   * Confirms that this hub ran its connections after all that was written so far, and has told it: resolves to false when nobody knows.
   * undefined: nobody else takes over.
   */
  readonly confirm: (() => Promise<boolean>) | undefined;
  /** Whether the claim on a Connection ID is held, so that its parameters may be shared. */
  owns(connectionId: string): boolean;
  /** The hub that has a Connection ID by the claims, as they were read last; undefined: they name none. */
  ownerOf(connectionId: string): string | undefined;
  /** Emits after claims have changed, also those of other hubs. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly claimed$: Observable<void>;
  /** The terms in which the lease of a hub is held; undefined: no server can say at the moment. Never rejects. */
  termsOf(hub: string): Promise<ReadonlySet<number> | undefined>;
  /** Emits after any of it has changed. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly changed$: Observable<void>;
}
