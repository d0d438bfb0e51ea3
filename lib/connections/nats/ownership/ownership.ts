// What this hub currently owns in its domain: the interface between leases, which decide this, and sharing and mirroring.

import type { Observable } from 'rxjs';

export interface Ownership {
  /**
   * The term under which this hub runs its connections and rules; every message carries it. Terms only grow, but a hub that starts while
   * the holder of its lease is unknown has term 0.
   */
  readonly term: number;
  /** false: another hub with the same name is active, and this one mirrors it. */
  readonly isHolder: boolean;
  /**
   * Whether this hub reports its parameters and accepts writes from other hubs: it is active, and knows which connections are its own.
   * Until then, other hubs keep their mirror of its name.
   */
  readonly reports: boolean;
  /**
   * Whether this hub answers requests for its parameters: it reports them, or it was the last one to do so and has stopped. Its values do
   * not change until it receives messages from another hub that has begun.
   */
  readonly answers: boolean;
  /**
   * Confirms that this hub was active after everything written so far and has sent it; resolves to false if that is uncertain. undefined if
   * no other hub takes over.
   */
  readonly confirm: (() => Promise<boolean>) | undefined;
  /** Whether this hub holds the claim on a Connection ID, so its parameters may be shared. */
  owns(connectionId: string): boolean;
  /** Returns the owner of a Connection ID according to the claims as last read; undefined if there is none. */
  ownerOf(connectionId: string): string | undefined;
  /** Emits after claims have changed, including those of other hubs. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly claimed$: Observable<void>;
  /** Resolves to the terms in which the lease of a hub is held; undefined if no server currently answers. Never rejects. */
  termsOf(hub: string): Promise<ReadonlySet<number> | undefined>;
  /** Emits after any of these has changed. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly changed$: Observable<void>;
}
