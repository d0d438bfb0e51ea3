// What this hub owns in its domain at the moment: the hinge between the leases, which decide it, and what is shared and mirrored.

import type { Observable } from 'rxjs';

export interface Ownership {
  /** The term under which this hub runs its connections and rules; every message carries it, and terms only grow. */
  readonly term: number;
  /** false: another hub of the same name runs them, this one mirrors it. */
  readonly isHolder: boolean;
  /**
   * Whether other hubs may ask for what this one has: the holder, and also one that was it last and has stopped, as its values stand
   * still until another one begins.
   */
  readonly answers: boolean;
  /** Whether the claim on a Connection ID is held, so that its parameters may be shared. */
  owns(connectionId: string): boolean;
  /** Emits after any of it has changed. Hot, replays nothing, synchronous, never completes, never errors. */
  readonly changed$: Observable<void>;
}
