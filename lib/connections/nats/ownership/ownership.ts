// The current ownership of a hub in its domain: the interface between the leases, which determine it, and the code for sharing and
// mirroring.

import type { Observable } from 'rxjs';

export interface Ownership {
  /**
   * The term in which this hub runs its connections and rules. It is part of every message. Terms only grow, except that a hub that starts
   * while the holder of its lease is unknown has term 0.
   */
  readonly term: number;
  /** False if another hub with the same name is active and this hub mirrors that hub. */
  readonly isHolder: boolean;
  /**
   * Whether this hub reports its parameters and accepts writes from other hubs, because it is active and knows which connections it owns.
   * Until then, other hubs keep their mirrors of the hub with this name.
   */
  readonly reports: boolean;
  /**
   * Whether this hub answers requests for its parameters: because it reports them, or because it was the last hub to report them and has
   * stopped. If it has stopped, its values do not change until messages arrive from another hub that has begun.
   */
  readonly answers: boolean;
  /**
   * Resolves to true if this hub has sent all writes so far and was still active afterwards, and to false if it is uncertain whether it
   * has. Undefined if no other hub can take over.
   */
  readonly confirm: (() => Promise<boolean>) | undefined;
  /** Returns whether this hub holds the claim to a Connection ID, so that the connection's parameters may be shared. */
  owns(connectionId: string): boolean;
  /** Returns the name of the hub that owns a Connection ID according to the claims as last read, or undefined if no hub owns it. */
  ownerOf(connectionId: string): string | undefined;
  /** Emits after claims have changed, including claims by other hubs. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly claimed$: Observable<void>;
  /** Resolves to the terms in which a hub's lease is held, or to undefined if no server currently answers. Never rejects. */
  termsOf(hub: string): Promise<ReadonlySet<number> | undefined>;
  /** Emits after any of the properties above has changed. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly changed$: Observable<void>;
}
