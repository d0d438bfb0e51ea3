// What is written into the cell of a lease.

import { z } from 'zod';

/**
 * The greatest term: of a greater one the next could not be counted. No honest hub gets there; whoever has written it keeps nobody from
 * the lease, as terms begin anew after it.
 */
export const maxTerm = 2 ** 48;
const term = z.int().positive().max(maxTerm);
const id = z.string().max(200);

/** What the cell of a lease holds. Each holder has a greater term than the one before. */
const leaseRecord = z.object({
  term,
  holder: id,
  name: z.string().max(1000),
  isReleased: z.boolean(),
  /** Grows with each record that its holder writes into this cell. */
  renewal: z.int().nonnegative().optional(),
  /** How many cells the lease is on. */
  parts: z.int().positive().optional(),
  /** The term in which its holder has begun, and which it tells; left out: that of the record, or it has not begun. */
  begun: term.optional(),
  /** Who had it last and may still go on by it, as nobody has begun since: released, it is given back to that one. Left out: nobody may. */
  before: z.object({ holder: id, term }).optional(),
  /** Of a part that was released: who takes it has the whole lease. */
  isWhole: z.boolean().optional(),
});
export type LeaseRecord = z.infer<typeof leaseRecord>;

/** Reads what a cell holds. Errors: what it is not. */
export function parseLease(data: unknown): LeaseRecord {
  return leaseRecord.parse(data);
}
