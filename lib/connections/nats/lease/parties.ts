// Who asks for a lease, who else does, and what it is a part of.

import type { Life } from './life.ts';

/** Who asks for the lease: `id` is of this run of the program alone, `name` tells people which one it is. */
export interface Holder {
  readonly id: string;
  readonly name: string;
  readonly parts?: number;
}

/** The greatest term that was heard of, of all parts of a lease. */
export interface Terms {
  greatest: number;
}

/** What is known of others than by their renewals. */
export interface Rivals {
  lifeOf(holder: string): Promise<Life>;
  /** false: what the lease protects may be done twice for a while, so a holder that seems to be gone is not waited for. */
  readonly isExclusive: boolean;
  /** Whether another hub is heard of that is to have the lease first, at this moment. Left out: none is. */
  goesFirst?(): boolean;
}

/** The lease of which a cell is a part. */
export interface Whole {
  readonly terms: Terms;
  /** Whether this hub wants the lease at this moment: it is asked before it takes it, and before each renewal. */
  isWanted(): boolean;
  /** Whether another part of it is this hub's or has run out: then nobody goes on who could renew this one. Left out: there is none. */
  hasRunOut?(): boolean;
  /** Whether this hub has begun, and may go on. */
  hasBegun?(): boolean;
  /** The term in which this hub has begun; left out, undefined: it has not. */
  begunIn?(): number | undefined;
  /** The term to take it in, or a greater one; left out: one that is greater than all that was heard of. */
  nextTerm?(): number | undefined;
}

export const unknownRivals: Rivals = { lifeOf: async () => 'silent', isExclusive: true };
export const ofOneCell = (): Whole => ({ terms: { greatest: 0 }, isWanted: () => true });
