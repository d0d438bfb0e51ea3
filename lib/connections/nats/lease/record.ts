// What is written into the cell of a lease.

import { z } from 'zod';

/** What the cell of a lease holds. Each holder has a greater term than the one before. */
const leaseRecord = z.object({
  term: z.int().positive(),
  holder: z.string(),
  name: z.string(),
  isReleased: z.boolean(),
  /** Grows with each record that its holder writes into this cell. */
  renewal: z.int().nonnegative().optional(),
  /** How many cells the lease is on. */
  parts: z.int().positive().optional(),
  /** Who had it last and may still go on by it, as nobody has begun since: released, it is given back to that one. Left out: nobody may. */
  before: z.object({ holder: z.string(), term: z.int().positive() }).optional(),
  /** Of a part that was released: who takes it has the whole lease. */
  isWhole: z.boolean().optional(),
});
export type LeaseRecord = z.infer<typeof leaseRecord>;

/** Reads what a cell holds. Errors: what it is not. */
export function parseLease(data: unknown): LeaseRecord {
  return leaseRecord.parse(data);
}
