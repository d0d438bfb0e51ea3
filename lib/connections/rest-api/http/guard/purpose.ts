// What a request is about to do.

import type { Need } from '../../users/rights.ts';

/** An upgrade to a WebSocket is a write. */
export type Act = 'read' | 'write' | 'write by GET';

/** What a request is about to do, and the right that it needs. */
export interface Purpose {
  readonly act: Act;
  readonly need: Need;
  /** true: it does not count towards `requestsPerUser`. */
  readonly isUnmetered?: boolean | undefined;
}
