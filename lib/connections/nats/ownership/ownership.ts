// What this hub currently owns in its domain: the interface between leases, which decide this, and sharing and mirroring.

import type { Observable } from 'rxjs';

export interface Ownership {
  /**
   * The term in which this hub runs its connections and rules, which is part of every message. Terms only grow, except that a hub that
   * starts while the holder of its lease is unknown has term 0.
   */
  readonly term: number;
  /** False if another hub with the same name is active and this hub mirrors it. */
  readonly isHolder: boolean;
  /**
   * Whether this hub reports its parameters and accepts writes from other hubs, because it is active and knows which connections are its
   * own. Until then, other hubs keep their mirror of the hub with this name.
   */
  readonly reports: boolean;
  /**
   * Whether this hub answers requests for its parameters, because it reports them, or was the last hub to report them and has stopped. In
   * the latter case, its values do not change until messages arrive from another hub that has begun.
   */
  readonly answers: boolean;
  /**
   * Confirms that this hub has sent everything written so far and was still active afterwards; resolves to false if this is uncertain.
   * undefined if no other hub takes over.
   */
  readonly confirm: (() => Promise<boolean>) | undefined;
  /** Returns whether this hub holds the claim to a Connection ID, so that the parameters of this connection may be shared. */
  owns(connectionId: string): boolean;
  /** Returns the owner of a Connection ID according to the claims as last read, or undefined if there is no owner. */
  ownerOf(connectionId: string): string | undefined;
  /** Emits after claims have changed, including claims of other hubs. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly claimed$: Observable<void>;
  /** Resolves to the terms in which the lease of a hub is held; undefined if no server currently answers. Never rejects. */
  termsOf(hub: string): Promise<ReadonlySet<number> | undefined>;
  /** Emits after any of the properties above has changed. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly changed$: Observable<void>;
}
